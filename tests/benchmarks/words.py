"""Made-up words with the frequencies of real ones, so that a data set of any size can be made and asked about."""

from __future__ import annotations

import random
from itertools import accumulate

_HEADS = [
    "b",
    "d",
    "f",
    "g",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "z",
    "br",
    "dr",
    "gr",
    "kl",
    "pl",
    "st",
    "tr",
    "sh",
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ou", "ee"]
_TAILS = ["", "n", "r", "l", "s", "t", "k", "m", "nd", "rt"]
_CHINESE = "部署窗口改为周四晚上现场测试选择平板记录需要搜索学习进度生成器项目成员负责发布缓存节点代理配置版本数据库索引查询结果"

VOCABULARY = 20_000
LENGTH = 12  # words of one text


class Speaker:
    """Writes texts of about twelve words, drawn by Zipf's law; the same seed gives the same texts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        words = random.Random(4472)
        found: dict[str, None] = {}
        while len(found) < VOCABULARY:
            found[
                "".join(words.choice(_HEADS) + words.choice(_VOWELS) + words.choice(_TAILS) for _ in range(words.randint(2, 3)))
            ] = None
        self._words = list(found)
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))

    def text(self) -> str:
        """One sentence; every tenth has a Chinese part."""
        words = self._random.choices(self._words, cum_weights=self._weights, k=LENGTH)
        if self._random.random() < 0.1:
            start = self._random.randrange(len(_CHINESE) - 6)
            words[-1] = _CHINESE[start : start + 6]
        return " ".join(words)

    def question(self, text: str) -> str:
        """Four words of a text in their order, among two that have nothing to do with it."""
        words = text.split()
        start = self._random.randrange(len(words) - 4)
        return " ".join(("what about", *words[start : start + 4], self._random.choice(self._words)))
