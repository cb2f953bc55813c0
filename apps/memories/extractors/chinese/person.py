"""Who the speaker is, what has changed about it, and what he asks to be remembered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.memories.extractors.base import SUBJECT
from apps.memories.extractors.chinese.frame import simplified
from apps.memories.extractors.concepts import (
    BACKGROUND_LANGUAGE,
    PROGRAM,
    Reading,
    preference_key,
    replaced,
)
from apps.memories.extractors.keys import fact_key, statement_key
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from apps.memories.extractors.sentences import Sentence


# -- corrections

_ITEM = r"[a-z0-9+#.]+(?:\s[a-z0-9+#.]+)?|[\u4e00-\u9fff]{2,5}?"
_CORRECTIONS = (
    verbose(
        rf"^(?:我)?(?:现在|目前|最近|已经|早就|早已|如今)*+不(?:再|怎么)?(?:写|用|使用|说|做"
        rf"|讲)\s?(?P<old>{_ITEM})\s?(?:了)?[，,、；;。\s]+(?:我|而是|现在|都|已经|全|主要)*+(?:改|换|转|换成|改成"
        rf"|转成)?(?:用|写|成|为|到|说|做|讲|向)?\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"
    ),
    verbose(
        rf"^我?(?:以前|之前|过去|原来)(?:主要|一直|都)*+(?:写|用|使用)\s?(?P<old>{_ITEM})[，,；;\s]+(?:但|但是|不过|我"
        rf"|而)*+(?:现在|如今|目前|后来)(?:主要|都|改|换成|已经)*+(?:写|用|使用)?\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"
    ),
    verbose(
        rf"^(?:我|我们)?(?:现在|目前|最近|已经|早就)*+从\s?(?P<old>{_ITEM})\s?(?:换|转|改|切换|迁移|转换|转型)(?:成|到|为|用"
        rf"|向)了?\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"
    ),
    verbose(
        rf"^(?:我)?(?:现在|目前|最近|已经|主要)*+(?:改|换|转)(?:用|成|写"
        rf"|为)了?\s?(?P<new>{_ITEM})\s?(?:了)?[，,；;\s]+(?:我)?(?:已经|现在)?不(?:再)?(?:写|用|使用"
        rf"|说)\s?(?P<old>{_ITEM})\s?(?:了)?[。.!！]?$"
    ),
    verbose(
        rf"^(?:已经)?不是\s?(?P<old>{_ITEM})\s?(?:了)?[，,；;\s]+(?:现在)?(?:是|改成|换成|改用"
        rf"|而是)\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"
    ),
    verbose(
        rf"^(?P<old>{_ITEM})\s?(?:我)?(?:已经)?不(?:再)?(?:用|写)了[，,；;\s]+(?:现在)?(?:改用|改写|换成|用"
        rf"|写)\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"
    ),
    verbose(
        rf"^(?:我)?(?:现在|目前)(?:主要)?(?:用|写)\s?(?P<new>{_ITEM})\s?[，,]?(?:而)?不(?:再)?(?:是|用"
        rf"|写)\s?(?P<old>{_ITEM})\s?(?:了)?[。.!！]?$"
    ),
)  # fmt: skip
_NEW_EMPLOYER = verbose(
    r"^我(?:已经|现在|上个月|最近)*+(?:从.{1,12})?(?:跳槽|离职|转职)(?:到|去|加入)了?(?P<new>\S{2,20}?)了?[。.!！]?$"
    r"|^我(?:已经|现在)?不在.{1,12}(?:工作|上班)了[，,](?:现在)?(?:在|去了)(?P<at>.{2,20}?)(?:工作|上班)?[。.!！]?$"
)
_NEW_HOME = verbose(
    r"^我们?(?:已经|最近|刚|刚刚|上个月|去年|现在)*+(?:从.{1,10})?(?:搬|搬家|迁)(?:到"
    r"|去)了?(?P<new>[\u4e00-\u9fffA-Za-z ]{2,12}?)(?:住|居住)?了?[。.!！]?$"
)


def correction(sentence: Sentence) -> Reading | None:
    """A new value for something of a known kind. Of other things nobody can say which of a person's records it replaces."""
    masked = simplified(sentence.masked)
    for pattern in _CORRECTIONS:
        match = pattern.match(masked)
        found = replaced(match["old"], match["new"]) if match is not None else None
        if found is not None:
            return Reading(memory_type=found[0], key=found[1], belongs_to=SUBJECT)
    if _NEW_EMPLOYER.match(masked):
        return Reading(memory_type="fact", key="employer", belongs_to=SUBJECT)
    home = _NEW_HOME.match(masked)
    if home is not None and not re.search(r"楼|层|房间|旁边|隔壁|上面|下面|桌", home["new"]):
        return Reading(memory_type="fact", key="residence", belongs_to=SUBJECT)
    return None


# -- who the speaker is

_PROGRAMS = rf"(?:{PROGRAM})(?:\s?(?:、|和|与|及|/|,|，)\s?(?:{PROGRAM}))*+"
_PROFESSION = (
    r"(?:老师|教师|工程师|医生|程序员|设计师|学生|护士|律师|会计|记者|产品经理|项目经理|研究员|翻译|作家|摄影师|厨师|司机"
    r"|公务员|教授|博士生?|研究生|架构师|分析师|运维|测试|销售|编辑|药师|建筑师|科学家|自由职业者|开发者|顾问|技术员|农民"
    r"|电工)"
)
_FACTS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("fact", "name", verbose(
        r"^(?:我的(?:名字|全名|真名)(?:是|叫)|我(?:名)?叫(?:做)?(?!了|他|她|你|它|别|人|车|外卖|醒|住|不|过|来|大家|服务)"
        r"|我姓.{1,2}[，,]?名)\s?(?P<value>[\u4e00-\u9fff·]{2,6}|[A-Z][A-Za-z .·'-]{1,30})[。.!！]?(?:$|[，,])"
    )),
    ("fact", "name", verbose(
        r"^我是(?P<value>[\u4e00-\u9fff·]{2,4}|[A-Z][A-Za-z]{1,15})(?=[，,]\s?(?:很高兴|请多|初次|幸会|来自|今年))"
    )),
    ("preference", "name.preferred", verbose(
        r"^(?:请|你|您|大家|以后|都|可以|就|直接)*+(?:叫|称呼|喊)我(?!起床|吃饭|一声|来|去|的|什么|怎么|爸|妈|回"
        r"|过)\s?(?P<value>[\u4e00-\u9fffA-Za-z]{1,12}?)(?:就行|就好|就可以|吧|即可)?(?:了)?[。.!！]?$"
    )),
    ("fact", BACKGROUND_LANGUAGE, verbose(
        rf"^我(?:现在|目前|平时|工作中|一直|写代码|编程|开发|上班)?(?:主要|主力|一般|通常|平时|大多"
        rf"|基本(?:上)?)(?:都)?(?:是)?(?:写|用|使用|做"
        rf"|搞)\s?{_PROGRAMS}\s?(?:代码|程序|开发|编程|写代码|做开发|语言)?(?:的)?[。.!！]?$"
    )),
    ("fact", BACKGROUND_LANGUAGE, verbose(
        rf"^我的(?:主力|主要|常用|母语级|第一)(?:编程|开发)?语言是\s?{_PROGRAMS}[。.!！]?$"
    )),
    ("fact", BACKGROUND_LANGUAGE, verbose(
        rf"^我是(?:一名|一个|个|写|做|搞)?\s?{_PROGRAMS}\s?(?:开发(?:者|工程师)?|程序员|工程师|的)[。.!！]?$"
    )),
    ("fact", "employer", verbose(
        r"^我(?:现在|目前)?(?:在|就职于|任职于|供职于)\s?(?P<value>(?!家|这|那|学校|公司|外面|北京|上海|线|哪|努力|认真"
        r"|一起|等|做|电脑|办公室|远程|图书馆)[\u4e00-\u9fffA-Za-z0-9 ]{2,16}?)(?:工作|上班|任职|就职)[。.!！]?$"
    )),
    ("fact", "employer", verbose(
        r"^我(?:现在|目前|刚|刚刚|上周|最近)*+(?:就职于|任职于|供职于|入职了?"
        r"|加入了)\s?[\u4e00-\u9fffA-Za-z0-9 ]{2,20}[。.!！]?$"
    )),
    ("fact", "occupation", verbose(
        rf"^我(?:现在|目前)?(?:是|做)(?:一名|一个|一位|个|名)?(?P<value>(?!你|他|她"
        rf"|谁)[\u4e00-\u9fffA-Za-z ]{{0,8}}?{_PROFESSION})(?:的)?[。.!！]?$"
    )),
    ("fact", "occupation", verbose(
        rf"^我(?:现在|目前)?在.{{1,12}}(?:当|做)(?P<value>[\u4e00-\u9fffA-Za-z ]{{0,8}}?{_PROFESSION})[。.!！]?$"
    )),
    ("fact", "occupation", verbose(
        r"^我(?:现在|目前|一直)?从事(?P<value>[\u4e00-\u9fffA-Za-z ]{2,14}?)(?:工作|行业|方面的工作)[。.!！]?$"
    )),
    ("fact", "occupation", verbose(
        r"^我的(?:职业|工作|职务)是(?P<value>(?!在|把|为了|不|什么)[\u4e00-\u9fffA-Za-z ]{2,14})[。.!！]?$"
    )),
    ("fact", "residence", verbose(
        r"^我们?(?:现在|目前|一直|长期|常年)?(?:住在|居住在|定居(?:在|于)?|常住|家住|家在)\s?(?P<value>(?!这|那|一起|哪"
        r"|隔壁|楼|酒店|医院|学校|宿舍|你|他|她|一[个间套栋]|[小大](?:公寓|房|屋|别墅)|公寓"
        r"|朋友)[\u4e00-\u9fffA-Za-z ]{2,14}?)(?<!里)(?:了)?[。.!！]?$"
    )),
    ("fact", "origin", verbose(
        r"^我(?:来自|是(?P<value>[\u4e00-\u9fff]{2,6})人$|的(?:老家|家乡|故乡)(?:是|在))(?!未来|地球|好|坏"
        r"|哪)[\u4e00-\u9fffA-Za-z ]{2,12}[。.!！]?$"
    )),
    ("fact", "birthday", verbose(r"^我的?生日是\s?(?=.*(?:\d|月))[\u4e00-\u9fff\d /.-]{3,16}[。.!！]?$")),
    ("preference", "timezone", verbose(
        r"^我(?:的时区是|在|处于|所在的?时区是)\s?[\u4e00-\u9fffA-Za-z0-9/+:_ -]{0,20}(?:时区|utc|gmt"
        r"|[a-z]+/[a-z_]+)(?:[+-]\d{1,2})?[。.!！]?$"
    )),
    ("fact", "diet", verbose(
        r"^我(?:是|一直|现在)?(?:一个|个)?(?:吃素|素食者|素食主义者|纯素(?:者|主义者)?|吃全素|不吃肉|不吃辣|不吃猪肉"
        r"|不吃海鲜|不吃牛肉)(?:的)?[。.!！]?$"
    )),
)  # fmt: skip
_ABSTAINS = verbose(
    r"^我(?:从来?|一直|平时|一般)?(?:都)?不(?:吃|喝|抽)(?P<what>(?!了|饭|早|午|晚|这|那|你|下|惯|完|准|起|得"
    r"|消)[\u4e00-\u9fffA-Za-z]{1,10}?)(?:的)?[。.!！]?$"
)
_ALLERGY = verbose(
    r"^我(?:从小|一直)?对(?P<what>(?!你|这|那|他|她|数字|钱|考试|工作)[\u4e00-\u9fffA-Za-z、和 ]{1,16}?)(?:严重|有点"
    r"|有些)?过敏[。.!！]?$"
)


def about_the_speaker(sentence: Sentence) -> Reading | None:
    """Name, work, home, main language: facts of which a person has one at a time."""
    masked = simplified(sentence.masked)
    for memory_type, key, pattern in _FACTS:
        match = pattern.match(masked)
        if match is not None:  # what follows a comma ("pleased to meet you") is no part of the fact
            return Reading(memory_type=memory_type, key=key, said=(0, match.end()), belongs_to=SUBJECT)
    abstains = _ABSTAINS.match(masked)
    if abstains is not None:
        return Reading(memory_type="preference", key=preference_key(abstains["what"]), belongs_to=SUBJECT)
    allergy = _ALLERGY.match(masked)
    return (
        Reading(memory_type="fact", key=fact_key("allergy", allergy["what"]), belongs_to=SUBJECT) if allergy is not None else None
    )


# -- asked to be remembered


def noted(sentence: Sentence) -> Reading | None:
    """What was asked to be remembered and is nothing else: kept as the speaker's own statement."""
    if len(sentence.text) < 4 or not any(character.isalpha() for character in sentence.text):  # noqa: PLR2004
        return None
    return Reading(memory_type="fact", key=statement_key("noted", sentence.text.strip(" 。.!！")), belongs_to=SUBJECT)
