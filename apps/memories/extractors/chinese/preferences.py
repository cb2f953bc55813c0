"""Likings, ways of answering, and wishes that hold only for the task at hand (CA-11, CA-12)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.memories.extractors.base import SUBJECT, TASK_SCOPED
from apps.memories.extractors.chinese.frame import simplified
from apps.memories.extractors.concepts import (
    LANGUAGE,
    REPLY_LANGUAGE,
    Reading,
    preference_key,
    reply_style,
)
from apps.memories.extractors.keys import fact_key, spelled
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from apps.memories.extractors.sentences import Sentence


# -- parameters of the task at hand

_THIS = r"(?:(?:就|只有|仅)?这(?:一)?[次份篇封个段条张版回趟]|本[次份篇封]|今天的?|暂时|临时|目前这[个份]|此次|当前(?:这个)?)"
_TASK_LANGUAGE = verbose(
    rf"^(?:请|麻烦|帮我)?(?:把|将)?{_THIS}(?:[\u4e00-\u9fff]{{0,6}})?[，,：:\s]*(?:请|就|先|都|要|需要|必须|帮我)*+(?:用"
    rf"|以|写成|改成|换成|译成|翻译成|说)\s?(?:{LANGUAGE})(?!.*(?:写的|的[。.!！]?$))"
)
_TASK_STYLE = verbose(
    rf"^(?:请|麻烦|帮我)?(?:把|将)?{_THIS}(?:报告|回答|回复|邮件|文档|总结|文章|答案|任务|对话|说明|信|作业|稿子|版本"
    rf"|方案|ppt)?[，,：:\s]*(?:请|就|先|都|要|可以|需要|必须)*+(?:用|写|回答|回复|说|做|输出|给|不要|别|简短|简洁|详细"
    rf"|正式|短|长|控制在|尽量).{{0,30}}"
)
_DESCRIBES = verbose(r"是用|是以|是.{1,20}写的|写得|很好|不错|太|真")


def task_parameter(sentence: Sentence) -> Reading | None:
    """A wish for this report, this time, today: named so that it can be refused (CA-12)."""
    masked = simplified(sentence.masked)
    if _STABLE.search(masked) or _DESCRIBES.search(masked):
        return None
    if _TASK_LANGUAGE.match(masked):
        return Reading(memory_type="preference", key=REPLY_LANGUAGE, marks=frozenset({TASK_SCOPED}), belongs_to=SUBJECT)
    style = reply_style(masked) if _TASK_STYLE.match(masked) else None
    return (
        Reading(memory_type="preference", key=style, marks=frozenset({TASK_SCOPED}), belongs_to=SUBJECT)
        if style is not None
        else None
    )


# -- preferences

_STABLE = verbose(
    r"以后|今后|往后|从现在(?:开始|起)|从今(?:天|以后)|从今往后|默认|一律|始终|总是|每次(?:都)?|永远|一直(?:用|都)|平时都"
    r"|统一(?:用|使用)|无论.*都"
)
_NOT_STABLE = verbose(
    r"以后(?:再|还|会|我|我们|你会|他|想|可以|可能|有机会|有空|有时间|的|怎么|要是|就知道)|从那以后|三天以后"
    r"|[年月周天]以后|(?<!请)(?<!希望)你(?:总是|每次|永远|一直|老是)|以后(?:也许|可能|肯定|一定会)|默认值|默认情况"
    r"|永远爱|总是(?:忘"
    r"|觉得|这样|失败|出错|很)"
)
_WILL = r"""(?:请|你|以后|今后|往后|从现在(?:开始|起)|从今(?:天|以后)(?:起|开始)?|从今往后|默认|一律|始终|一直|总是|每次|永远
    |都|就|统一|要|应该|需要|能|可以|直接|我希望|希望|麻烦|无论[^，,]{1,12}|[跟和给对与]我|的|语言|尽量|也|[，,、：:\s])*+"""
# "from now on, before you book anything": only behind a word that makes it last.
_OCCASION = (
    r"(?:以后|今后|往后|从现在(?:开始|起)|从今天(?:起|开始)|从今往后|每次|默认)[，,]?"
    r"(?!我|他|她|它|你)[\u4e00-\u9fffA-Za-z]{1,12}?(?:之前|以前|的时候|时|都|就|请|一律|前)"
)
_TOLD = verbose(
    rf"""^(?:{_OCCASION})?{_WILL}
        (?P<verb> 不要 | 别 | 不用 | 禁用 | 使用 | 用 | 以(?!后|前|上|下|来|及|为) | 写 | 说 | 讲 | 给出 | 给 | 叫我 | 称呼我
            | 喊我 | 保持 | 先 | 回答 | 回复 | 答复 | 输出 | 改成 | 改为 | 设为 | 换成 | 附上 | 加上 | 带上 | 列出 | 翻译
            | 解释 | 总结 | 简短 | 简洁 | 详细 | 按 | 把 | 避免 | 提醒 | 假设 | 引用 | 注明 | 标注 | 放在? ) (?P<rest>.*)"""
)
_LIKING = verbose(
    r"^我(?:个人|一般|通常|平时|还是|都|一直|一向|比较|最|更|更加|特别|非常|很|挺|真的|其实|也|从来|现在|蛮|超级?|尤其"
    r"|不太|不怎么|不是很|不|并不|从不|越来越)*+"
    r"(?P<verb>喜欢|偏好|偏爱|倾向于?|爱|热爱|偏向于?|习惯于?|更?愿意|宁愿|宁可|讨厌|受不了|反感|钟爱|喜爱)(?P<liked>.+)"
)
_NOT_A_LIKING = verbose(
    r"^(?:你|您|他|她|它|这|那|此|了|上了|过|死|的[是人]|的$|不|得|吗|跟你|和你|听你|看你|到|就|有点|谁|什么|啊|哦"
    r"|[，,。！!]|他们|她们|咱|人家|对方|这里|这儿|那里)|今天|昨天|刚才|刚刚|这次|上次|那天|明天|今晚|昨晚|那个时候"
    r"|小时候|当时|上一[个条版]|第[一二三]个|方案[一二三ABCabc]"
)
# What is said about the liked thing is no part of its name.
_COMMENT = verbose(
    r"[，,]\s?(?:喜欢|但是?|不过|可是|因为|由于|这|那|它|让|尤其|特别|往往|经常|像|比如|例如|如|也|还|每|感觉|觉得|所以|真的"
    r"|非常)|因为|尤其是|[。！;；]"
)
_HOBBY = verbose(
    r"^我(?:的(?:爱好|兴趣|业余爱好|最爱|偏好)(?:是|包括|有)(?P<what>(?!你|这|那|什么).+)|对(?P<interest>(?!你|他|她"
    r"|这|那)[\u4e00-\u9fffA-Za-z、 ]{1,16}?)(?:也|都|还)?(?:很|非常|特别|比较|挺|最)?(?:感兴趣|着迷|有兴趣))[。.!！]?$"
)
_FAVOURITE_LAST = verbose(
    r"^(?!这|那|你|他|她)(?P<value>[\u4e00-\u9fffA-Za-z《》]{1,16}?)是我最(?:喜欢|爱"
    r"|喜爱)的(?P<what>[\u4e00-\u9fffA-Za-z]{1,12}?)[。.!！]?$"
)
_FAVOURITE = verbose(
    r"^我(?:个人)?最(?:喜欢|喜爱|爱|爱吃|爱喝|爱看|喜欢吃|喜欢喝|喜欢看)的?(?P<what>[\u4e00-\u9fffA-Za-z ]{1,12}?)(?:就"
    r"|一直|还|当然|应该)?是(?P<value>(?!你|这|那|他|她|什么|哪).+)"
)


def reply_preference(sentence: Sentence) -> Reading | None:  # noqa: PLR0911 - one return per reason to say nothing
    """How to answer from now on (CA-11). Without a word that makes it last it may be for this task only: nothing."""
    masked = simplified(sentence.masked)
    if not _STABLE.search(masked) or _NOT_STABLE.search(masked):
        return None
    told = _TOLD.match(masked)
    if told is None:
        return None
    verb, rest = told["verb"], told["rest"].strip("。.!！ ")
    if verb in ("叫我", "称呼我", "喊我"):
        named = rest and not re.match(r"起床|吃饭|一声|来|去", rest)
        return Reading(memory_type="preference", key="name.preferred", belongs_to=SUBJECT) if named else None
    if _IN_LANGUAGE.match(rest) and verb in _SPEAKING:
        return Reading(memory_type="preference", key=REPLY_LANGUAGE, belongs_to=SUBJECT)
    style = reply_style(f"{verb}{rest}")
    if style is None and verb in ("不要", "别") and not _NOT_ONLY_EVER.search(masked):
        return None  # "never give up" is addressed to nobody
    if style is None and (len(rest) < 2 or _DEEDS.search(rest) or verb in ("说", "讲", "给", "解释", "假设")):  # noqa: PLR2004
        return None
    return Reading(memory_type="preference", key=style or fact_key("preference", f"{verb}{rest}"), belongs_to=SUBJECT)


_IN_LANGUAGE = verbose(rf"\s?(?:{LANGUAGE})")
_SPEAKING = frozenset(("用", "使用", "以", "说", "讲", "写", "改成", "改为", "设为", "换成"))
_NOT_ONLY_EVER = verbose(r"以后|今后|往后|从现在|从今|默认|一律|每次|统一")
_DEEDS = verbose(r"部署|提交|推送|删除|合并|发布|重启|安装|升级|覆盖|迟到|生气|担心|来了|去了|联系|再见|回来|结婚|后悔")


def liking(sentence: Sentence) -> Reading | None:
    """我喜欢…, 我不喜欢…, 我最喜欢的…是…: about the speaker and lasting, never about this one thing here."""
    masked = simplified(sentence.masked)
    favourite = _FAVOURITE.match(masked) or _FAVOURITE_LAST.match(masked)
    if favourite is not None:
        return Reading(memory_type="preference", key=fact_key("preference.favourite", favourite["what"]), belongs_to=SUBJECT)
    hobby = _HOBBY.match(masked)
    if hobby is not None:
        return Reading(memory_type="preference", key=preference_key(hobby["what"] or hobby["interest"]), belongs_to=SUBJECT)
    match = _LIKING.match(masked)
    if match is None or _NOT_A_LIKING.search(match["liked"].strip()) or (match["verb"] == "爱" and len(match["liked"]) < 2):  # noqa: PLR2004
        return None
    liked = _COMMENT.split(sentence.text[match.start("liked") :], maxsplit=1)[0].strip(" 。.!！~～，,").rstrip("了啦呢呀啊")
    if not spelled(liked):
        return None
    return Reading(memory_type="preference", key=preference_key(liked), belongs_to=SUBJECT)
