"""What everybody can look up: nature, places, works, people of history, sciences. A question about these alone needs no memory.

A term counts where it is what a phrase is about: "the moon" and "Jupiter's moons" are of the world, "the moon base key" is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from apps.retrieval.stemming import stem, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.retrieval.triage.anchors import Anchor

_ENGLISH: Final = """
    world war i, world war ii, world war two, world war one, second world war, first world war, cold war, french revolution,
    russian revolution, industrial revolution, american revolution, civil war, moon landing, berlin wall, big bang, solar
    system, milky way, speed of light, speed of sound, leap year, alphabet, planet, continent, ocean, sea level, desert,
    dinosaur, galaxy, universe, gravity, photosynthesis, natural selection, evolution, dna, atom, molecule, electron, proton,
    neutron, periodic table, oxygen, hydrogen, helium, nitrogen, carbon dioxide, rainbow, thunder, lightning, earthquake,
    volcano, tsunami, hurricane, moon, sun, earth, sky, mars, jupiter, saturn, venus, mercury, neptune, uranus, pluto, star,
    comet, einstein, albert einstein, newton, isaac newton, shakespeare, william shakespeare, darwin, charles darwin, mozart,
    beethoven, bach, chopin, picasso, van gogh, rembrandt, michelangelo, leonardo da vinci, plato, aristotle, socrates,
    confucius, napoleon, cleopatra, julius caesar, alexander the great, genghis khan, columbus, christopher columbus,
    magellan, marco polo, galileo, copernicus, kepler, marie curie, edison, nikola tesla, gandhi, nelson mandela, abraham
    lincoln, george washington, winston churchill, neil armstrong, homer, dante, tolstoy, dostoevsky, dickens, jane austen,
    agatha christie, mark twain, roman empire, ottoman empire, renaissance, middle ages, ancient egypt, ancient greece, mona
    lisa, hamlet, macbeth, romeo, juliet, odyssey, iliad, don quixote, war and peace, pride and prejudice, harry potter, star
    wars, sherlock holmes, magic flute, everest, mount everest, mont blanc, kilimanjaro, eiffel tower, great wall, taj mahal,
    colosseum, statue of liberty, titanic, pyramid, amazon, nile, danube, rhine, mississippi, pacific, atlantic,
    mediterranean, sahara, antarctica, arctic, pythagoras, pythagorean theorem, quantum mechanics, quantum physics,
    relativity, thermodynamics, entropy, supply and demand, blood type, human body, human heart, human skeleton, heart rate,
    bone, vitamin, protein, big o notation, capital city, capital, country, european country, african country, olympic game,
    olympics, world cup, chess, penicillin, recursion, machine learning, deep learning, artificial intelligence, neural
    network, blockchain, binary search, linked list, hash table, compiler, object-oriented programming, functional
    programming, inflation, democracy, capitalism, communism, socialism, photon, black hole, plate tectonics, water cycle,
    food chain, immune system, greenhouse effect, climate change, global warming, vaccine, antibiotic, enzyme, mitochondria,
    cell, bacteria, virus, season, spring equinox, solstice, eclipse, tide, primary colour, primary color, musical note,
    zodiac sign, vowel, consonant, prime number, fibonacci, pi, triangle, square root, gold, silver, iron, water, ice, blood,
    honey, glass, plastic
"""
_CHINESE: Final = """
    光合作用 光速 声速 相对论 勾股定理 万有引力 引力 进化论 量子力学 太阳系 银河系 宇宙 行星 恒星 黑洞 地球 月球 月亮 太阳
    火星 木星 土星 金星 水星 天王星 海王星 冥王星 彗星 大洲 大洋 海洋 太平洋 大西洋 印度洋 北冰洋 地中海 撒哈拉 珠穆朗玛峰
    珠峰 喜马拉雅山 长江 黄河 尼罗河 亚马逊河 密西西比河 长城 故宫 金字塔 埃菲尔铁塔 自由女神 泰姬陵 泰坦尼克号 唐朝 宋朝
    元朝 明朝 清朝 汉朝 秦朝 秦始皇 汉武帝 唐太宗 康熙 李白 杜甫 苏轼 白居易 孔子 老子 庄子 孟子 鲁迅 曹雪芹 红楼梦 西游记
    三国演义 水浒传 论语 史记 牛顿 爱因斯坦 达尔文 伽利略 居里夫人 爱迪生 莎士比亚 莫扎特 贝多芬 肖邦 毕加索 梵高 达芬奇
    拿破仑 哥伦布 甘地 林肯 华盛顿 丘吉尔 柏拉图 亚里士多德 苏格拉底 蒙娜丽莎 哈姆雷特 世界大战 第一次世界大战 第二次世界大战
    一战 二战 冷战 工业革命 法国大革命 辛亥革命 文艺复兴 联合国 世界上 全世界 世界 奥运会 世界杯 元素周期表 恐龙 彩虹 闪电
    雷电 地震 火山 海啸 台风 潮汐 闰年 二十四节气 节气 十二生肖 生肖 星座 近义词 反义词 同义词 成语 部首 拼音 笔画 歇后语
    诺贝尔奖 欧洲国家 亚洲国家 非洲国家 世界各国 国家 首都 四季 季节 天空 机器学习 深度学习 人工智能 神经网络 区块链 递归
    二分查找 链表 哈希表 面向对象 编译器 通货膨胀 民主 资本主义 社会主义 板块构造 水循环 食物链 免疫系统 温室效应 气候变化
    气候 天气 疫苗 抗生素 线粒体 青霉素 细胞 细菌 病毒 原子 分子 电子 质子 中子 氧气 氢气 二氧化碳 维生素 蛋白质 血型 人体
    心脏 骨头 黄金 水 冰 金字塔 质数 圆周率 三角形 元音 辅音 颜色 电话 电灯 蒸汽机 互联网 造纸术 指南针 火药 印刷术 法国 英国
    美国 德国 日本 韩国 俄罗斯 意大利 西班牙 加拿大 澳大利亚 印度 巴西 墨西哥 埃及 中国 泰国 越南 欧洲 亚洲 非洲 南美洲
    北美洲 南极洲 巴黎 伦敦 柏林 纽约 东京 北京 罗马 莫斯科
"""
TERMS_ENGLISH: Final = frozenset(
    " ".join(stem(word) for word in term.split())
    for term in (part.strip() for part in _ENGLISH.replace("\n", " ").split(","))
    if term
)
TERMS_CHINESE: Final = words(_CHINESE)
# What is asked of such things; by themselves they say nothing.
_PROPERTIES_ENGLISH: Final = frozenset(
    stem(word)
    for word in words(
        """
        language currency height length depth distance diameter radius size age mass weight speed temperature colour color
        capital population area density author inventor discoverer founder painter composer president king queen emperor
        religion religions flag symbol formula function purpose cause colours name names spoken difference sink river
        mountain lake island city invented discovered painted composed
        """
    )
)
_PROPERTIES_CHINESE: Final = words(
    "语言 官方语言 货币 人口 首都 面积 高度 长度 深度 距离 直径 半径 大小 年龄 质量 重量 速度 温度 颜色 作者 导演 发明者 发"
    "现者 总统 国王 皇帝 国旗 国歌 国花 符号 化学式 化学符号 原子序数 "
    "沸点 熔点 冰点 密度 河 山 湖 岛 城市 差别 区别"
)
_AFTER_TERM = re.compile("[是的有离和到与跟为在绕会能最]")
_LONGEST_TERM = 4


def is_of_the_world(anchors: Sequence[Anchor]) -> bool:
    """Whether every phrase is about the world, and at least one says what."""
    kinds = [_about_world(one) for one in anchors]
    return bool(kinds) and None not in kinds and True in kinds


def _about_world(anchor: Anchor) -> bool | None:
    """True for a term of the world, False for a property that such a term can have, None for anything else."""
    if anchor.worldly:
        return True
    if anchor.text.isascii():
        return _english(anchor.text)
    return _chinese(anchor.text)


def _english(text: str) -> bool | None:
    parts = [stem(word.removesuffix("'s").strip("'-")) for word in text.lower().split()]
    while parts:
        if any(" ".join(parts[-count:]) in TERMS_ENGLISH for count in range(1, _LONGEST_TERM + 1)):
            return True
        if parts[-1] not in _PROPERTIES_ENGLISH:
            return None
        parts.pop()
    return False


def _chinese(text: str) -> bool | None:
    for part in text.split("的"):
        for length in range(min(len(part), 8), 0, -1):
            rest = part[length:]
            if part[:length] in TERMS_CHINESE and (not rest or _AFTER_TERM.match(rest) or rest in _PROPERTIES_CHINESE):
                return True
    return False if text in _PROPERTIES_CHINESE else None
