"""What the rules understand in Chinese. Traditional characters are read as their simplified ones, so that every pattern is written
once; offsets stay the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.memories.extractors import dates
from apps.memories.extractors.base import SUBJECT, TASK_SCOPED
from apps.memories.extractors.concepts import (
    BACKGROUND_LANGUAGE,
    LANGUAGE,
    PROGRAM,
    REPLY_LANGUAGE,
    ZH_STEP,
    Reading,
    preference_key,
    progress_key,
    replaced,
    reply_style,
    state_key,
)
from apps.memories.extractors.keys import fact_key, statement_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from apps.memories.extractors.sentences import Sentence

_TRADITIONAL = "請後說語為來個這對會開學還應該從時間歡愛討厭習慣總報寫決記錄選擇題問統與計劃標過別讓給設進點務員號裡沒變現實驗環運數據則當買賣讀講練課單義許邊離職稱換轉遷達組織項專業醫師護論寬體證幾萬億傳樣關係壞錯誤網絡緩憶無麼嗎聽見張園結簡潔詳細長雖準備礎參覽預發試測範圍優費經議輪圖書"
_SIMPLIFIED = "请后说语为来个这对会开学还应该从时间欢爱讨厌习惯总报写决记录选择题问统与计划标过别让给设进点务员号里没变现实验环运数据则当买卖读讲练课单义许边离职称换转迁达组织项专业医师护论宽体证几万亿传样关系坏错误网络缓忆无么吗听见张园结简洁详细长虽准备础参览预发试测范围优费经议轮图书"
_TO_SIMPLIFIED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)


def simplified(text: str) -> str:
    """For matching only; every character stands for one."""
    return text.translate(_TO_SIMPLIFIED)


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?ix){pattern}")


_HYPOTHETICAL = _re(
    r"如果|假如|要是|倘若|假设|万一|除非|的话|即使|哪怕|若是|一旦|是否|要不要|能不能|会不会|是不是|可不可以|好不好|有没有|比如说?，?我|当我.*时|等我.*(?:后|再)|要不然?|本来想|本来打算|差点|恨不得|听说|据说"
)
_ASKS = _re(r"^(?:为什么|怎么|如何|什么|哪|谁|多少|几时|何时|难道|能否|可否)|(?:什么|怎么样|怎么办|多少|哪里|哪个|谁)[。.!！]*$")
RETRACTED = _re(r"^(?:我?(?:是)?(?:开玩笑|逗你|说着玩|闹着玩)的?|当我没说|算了|收回(?:刚才|上面)的话)")


def withheld(sentence: Sentence) -> bool:
    """A question, hypothesis or condition: nothing in it is stated."""
    masked = simplified(sentence.masked)
    return _HYPOTHETICAL.search(masked) is not None or _ASKS.search(masked) is not None


_LEAD_IN = _re(
    r"(?:好的?|嗯+|哦|啊|哈哈|是的|对|对了|另外|还有|此外|顺便(?:说一下|提一下|说一句)?|其实|那么?|首先|然后|所以|不过|但是?|而且|请注意|注意|说明一下|补充一下|补充|更新(?:一下)?|更正(?:一下)?|告诉你|跟你说(?:一下|个事)?"
    r"|你好|您好|谢谢|最后|最终|老实说|说实话|总之|今天|昨天|刚才|上周|这周|经过讨论|讨论之?后|商量之?后|好消息)[，,：:、。!！\s]+"
    r"|(?:今天|昨天|刚才|上周|最后|最终|其实|不过|另外|经过讨论|讨论之?后|商量之?后)(?=我)"
)
_REMEMBER = _re(r"(?:请)?(?:你)?(?:帮我)?(?:一定要?)?(?:记住|记下|记一下|记着|牢记|别忘了|不要忘了|请记得)[，,：:\s]*(?!了|的|吗|他|她|那|去|要|买|带|当时)")


def plain(sentence: Sentence) -> tuple[Sentence, bool]:
    """The sentence without 好的，顺便说一下, and whether it asks to be remembered."""
    masked = simplified(sentence.masked)
    at, asked = 0, False
    for _ in range(4):
        lead = _LEAD_IN.match(masked, at)
        remember = _REMEMBER.match(masked, at) if lead is None else None
        if lead is None and remember is None:
            break
        at = (lead or remember).end()  # type: ignore[union-attr]
        asked = asked or remember is not None
    return (sentence.part(at, len(sentence.text)) if at else sentence), asked


_CLAUSE = _re(r"[，,；]\s?(?:另外|还有|而且|同时|并且|但是?|也)?(?=我们?(?:决定|最?喜欢|更喜欢|偏好|讨厌|学完|看完|读完|写完|做完|完成了|的目标|主要|住在|叫|的名字|已经))")


def clauses(sentence: Sentence) -> Iterator[Sentence]:
    """Independent statements of one sentence."""
    begun = 0
    for joint in _CLAUSE.finditer(simplified(sentence.masked)):
        yield sentence.part(begun, joint.start())
        begun = joint.end()
    yield sentence.part(begun, len(sentence.text))


# -- parameters of the task at hand

_THIS = r"(?:这(?:一)?[次份篇封个段条张版]|本[次份篇封]|今天的?|暂时|临时|目前这[个份]|此次|当前(?:这个)?)"
_TASK_LANGUAGE = _re(
    rf"^(?:请|麻烦|帮我)?(?:把|将)?{_THIS}(?:[\u4e00-\u9fff]{{0,6}})?[，,：:\s]*(?:请|就|先|都|要|需要|必须|帮我)*(?:用|以|写成|改成|换成|译成|翻译成|说)\s?(?:{LANGUAGE})(?!.*(?:写的|的[。.!！]?$))"
)
_TASK_STYLE = _re(
    rf"^(?:请|麻烦|帮我)?(?:把|将)?{_THIS}(?:报告|回答|回复|邮件|文档|总结|文章|答案|任务|对话|说明|信|作业|稿子|版本|方案|ppt)?[，,：:\s]*(?:请|就|先|都|要|可以|需要|必须)*(?:用|写|回答|回复|说|做|输出|给|不要|别|简短|简洁|详细|正式|短|长|控制在|尽量).{{0,30}}"
)
_DESCRIBES = _re(r"是用|是以|是.{1,20}写的|写得|很好|不错|太|真")


def task_parameter(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """A wish for this report, this time, today: named so that it can be refused (CA-12)."""
    masked = simplified(sentence.masked)
    if _STABLE.search(masked) or _DESCRIBES.search(masked):
        return None
    if _TASK_LANGUAGE.match(masked):
        return Reading(memory_type="preference", key=REPLY_LANGUAGE, marks=frozenset({TASK_SCOPED}), belongs_to=SUBJECT)
    style = reply_style(masked) if _TASK_STYLE.match(masked) else None
    return Reading(memory_type="preference", key=style, marks=frozenset({TASK_SCOPED}), belongs_to=SUBJECT) if style is not None else None


# -- corrections

_ITEM = r"[a-z0-9+#.]+(?:\s[a-z0-9+#.]+)?|[\u4e00-\u9fff]{2,5}?"
_CORRECTIONS = (
    _re(rf"^(?:我)?(?:现在|目前|最近|已经|早就|早已|如今)*不(?:再|怎么)?(?:写|用|使用|说|做|讲)\s?(?P<old>{_ITEM})\s?(?:了)?[，,、；;。\s]+(?:我|而是|现在|都|已经|全|主要)*(?:改|换|转|换成|改成|转成)?(?:用|写|成|为|到|说|做|讲|向)?\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"),
    _re(rf"^(?:我|我们)?(?:现在|目前|最近|已经|早就)*从\s?(?P<old>{_ITEM})\s?(?:换|转|改|切换|迁移|转换|转型)(?:成|到|为|用|向)了?\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"),
    _re(rf"^(?:我)?(?:现在|目前|最近|已经|主要)*(?:改|换|转)(?:用|成|写|为)了?\s?(?P<new>{_ITEM})\s?(?:了)?[，,；;\s]+(?:我)?(?:已经|现在)?不(?:再)?(?:写|用|使用|说)\s?(?P<old>{_ITEM})\s?(?:了)?[。.!！]?$"),
    _re(rf"^(?:已经)?不是\s?(?P<old>{_ITEM})\s?(?:了)?[，,；;\s]+(?:现在)?(?:是|改成|换成|改用|而是)\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"),
    _re(rf"^(?P<old>{_ITEM})\s?(?:我)?(?:已经)?不(?:再)?(?:用|写)了[，,；;\s]+(?:现在)?(?:改用|改写|换成|用|写)\s?(?P<new>{_ITEM})\s?(?:了)?[。.!！]?$"),
    _re(rf"^(?:我)?(?:现在|目前)(?:主要)?(?:用|写)\s?(?P<new>{_ITEM})\s?[，,]?(?:而)?不(?:再)?(?:是|用|写)\s?(?P<old>{_ITEM})\s?(?:了)?[。.!！]?$"),
)  # fmt: skip
_NEW_EMPLOYER = _re(
    r"^我(?:已经|现在|上个月|最近)*(?:从.{1,12})?(?:跳槽|离职|转职)(?:到|去|加入)了?(?P<new>\S{2,20}?)了?[。.!！]?$|^我(?:已经|现在)?不在.{1,12}(?:工作|上班)了[，,](?:现在)?(?:在|去了)(?P<at>.{2,20}?)(?:工作|上班)?[。.!！]?$"
)
_NEW_HOME = _re(r"^我们?(?:已经|最近|刚|刚刚|上个月|去年|现在)*(?:从.{1,10})?(?:搬|搬家|迁)(?:到|去)了?(?P<new>[\u4e00-\u9fffA-Za-z ]{2,12}?)(?:住|居住)?了?[。.!！]?$")


def correction(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
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


# -- preferences

_STABLE = _re(r"以后|今后|往后|从现在(?:开始|起)|从今(?:天|以后)|从今往后|默认|一律|始终|总是|每次(?:都)?|永远|一直(?:用|都)|平时都|统一(?:用|使用)|无论.*都")
_NOT_STABLE = _re(r"以后(?:再|还|会|我|我们|你会|他|想|可以|可能|有机会|有空|有时间|的|怎么|要是|就知道)|从那以后|三天以后|[年月周天]以后|默认值|默认情况|永远爱|总是(?:忘|觉得|这样|失败|出错|很)")
_TOLD = _re(
    r"""^(?:(?:请|你|以后|今后|往后|从现在(?:开始|起)|从今(?:天|以后)(?:起|开始)?|从今往后|默认|一律|始终|总是|每次|永远|都|就|统一|要|应该|需要|能|可以|直接|我希望|希望|麻烦|无论[^，,]{1,12}|跟我|和我|给我|对我|与我|回答(?:时|的时候)?|回复(?:时|的时候)?|写代码(?:时|的时候)?|的|语言|尽量|也|
        [，,、：:\s])*)
        (?P<verb> 不要 | 别 | 不用 | 禁用 | 使用 | 用 | 以 | 写 | 说 | 讲 | 给出 | 给 | 叫我 | 称呼我 | 喊我 | 保持 | 先 | 回答 | 回复 | 答复 | 输出 | 改成 | 改为 | 设为 | 换成 | 附上 | 加上 | 带上 | 列出 | 翻译 | 解释 | 总结
          | 简短 | 简洁 | 详细 | 按 | 把 | 避免 | 提醒 | 假设 | 引用 | 注明 | 标注 ) (?P<rest>.*)"""
)
_LIKING = _re(
    r"^我(?:个人|一般|通常|平时|还是|都|一直|一向|比较|最|更|更加|特别|非常|很|挺|真的|其实|也|从来|现在|蛮|超级?|尤其|不太|不怎么|不是很|不|并不|从不)*"
    r"(?P<verb>喜欢|偏好|偏爱|倾向于?|爱|热爱|习惯于?|讨厌|受不了|反感|钟爱|喜爱)(?P<liked>.+)"
)
_NOT_A_LIKING = _re(
    r"^(?:你|您|他|她|它|这|那|此|了|上了|过|死|的[是人]|的$|不|得|吗|跟你|和你|听你|看你|到|就|有点|谁|什么|啊|哦|[，,。！!]|他们|她们|咱|人家|对方|这里|这儿|那里)|今天|昨天|刚才|刚刚|这次|上次|那天|明天|今晚|昨晚|那个时候|小时候|当时|上一[个条版]|第[一二三]个|方案[一二三ABCabc]"
)
_FAVOURITE = _re(r"^我(?:个人)?最(?:喜欢|喜爱|爱|爱吃|爱喝|爱看|喜欢吃|喜欢喝|喜欢看)的?(?P<what>[\u4e00-\u9fffA-Za-z ]{1,12}?)(?:就|一直|还|当然|应该)?是(?P<value>(?!你|这|那|他|她|在|什么|哪).+)")


def reply_preference(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """How to answer from now on (CA-11). Without a word that makes it last it may be for this task only: nothing."""
    masked = simplified(sentence.masked)
    if not _STABLE.search(masked) or _NOT_STABLE.search(masked):
        return None
    told = _TOLD.match(masked)
    if told is None:
        return None
    verb, rest = told["verb"], told["rest"].strip("。.!！ ")
    if verb in ("叫我", "称呼我", "喊我"):
        return Reading(memory_type="preference", key="name.preferred", belongs_to=SUBJECT) if rest and not re.match(r"起床|吃饭|一声|来|去", rest) else None
    if re.match(rf"(?i)\s?(?:{LANGUAGE})", rest) and verb in ("用", "使用", "以", "说", "讲", "写", "改成", "改为", "设为", "换成"):
        return Reading(memory_type="preference", key=REPLY_LANGUAGE, belongs_to=SUBJECT)
    style = reply_style(f"{verb}{rest}")
    if style is None and (len(rest) < 2 or _DEEDS.search(rest) or verb in ("说", "讲", "给", "解释", "假设")):  # noqa: PLR2004
        return None
    return Reading(memory_type="preference", key=style or fact_key("preference", f"{verb}{rest}"), belongs_to=SUBJECT)


_DEEDS = _re(r"部署|提交|推送|删除|合并|发布|重启|安装|升级|覆盖|迟到|生气|担心|来了|去了|联系|再见|回来|结婚|后悔")


def liking(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """我喜欢…, 我不喜欢…, 我最喜欢的…是…: about the speaker and lasting, never about this one thing here."""
    masked = simplified(sentence.masked)
    favourite = _FAVOURITE.match(masked)
    if favourite is not None:
        return Reading(memory_type="preference", key=fact_key("preference.favourite", favourite["what"]), belongs_to=SUBJECT)
    match = _LIKING.match(masked)
    if match is None or _NOT_A_LIKING.search(match["liked"].strip()) or (match["verb"] == "爱" and len(match["liked"]) < 2):  # noqa: PLR2004
        return None
    liked = _REASON.split(sentence.text[match.start("liked") :], maxsplit=1)[0].strip(" 。.!！~～，,")
    if not any(character.isalpha() for character in liked):
        return None
    return Reading(memory_type="preference", key=preference_key(liked), belongs_to=SUBJECT)


# -- who the speaker is

_PROGRAMS = rf"(?:{PROGRAM})(?:\s?(?:、|和|与|及|/|,|，)\s?(?:{PROGRAM}))*"
_PROFESSION = r"(?:老师|教师|工程师|医生|程序员|设计师|学生|护士|律师|会计|记者|产品经理|项目经理|研究员|翻译|作家|摄影师|厨师|司机|公务员|教授|博士生?|研究生|架构师|分析师|运维|测试|销售|编辑|药师|建筑师|科学家|自由职业者|开发者|顾问|技术员|农民|电工)"
_FACTS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("fact", "name", _re(r"^(?:我的(?:名字|全名|真名)(?:是|叫)|我(?:名)?叫(?:做)?|我姓.{1,2}[，,]?名)\s?(?P<value>[\u4e00-\u9fff·]{2,6}|[A-Z][A-Za-z .·'-]{1,30})[。.!！]?(?:$|[，,])")),
    ("preference", "name.preferred", _re(r"^(?:请|你|您|大家|以后|都|可以|就|直接)*(?:叫|称呼|喊)我(?!起床|吃饭|一声|来|去|的|什么|怎么|爸|妈|回|过)\s?(?P<value>[\u4e00-\u9fffA-Za-z]{1,12}?)(?:就行|就好|就可以|吧|即可)?(?:了)?[。.!！]?$")),
    ("fact", BACKGROUND_LANGUAGE, _re(rf"^我(?:现在|目前|平时|工作中|一直)?(?:主要|主力|一般|通常|平时|大多|基本(?:上)?)(?:都)?(?:是)?(?:写|用|使用|做|搞)\s?{_PROGRAMS}\s?(?:代码|程序|开发|编程|写代码|做开发|语言)?(?:的)?[。.!！]?$")),
    ("fact", BACKGROUND_LANGUAGE, _re(rf"^我的(?:主力|主要|常用|母语级|第一)(?:编程|开发)?语言是\s?{_PROGRAMS}[。.!！]?$")),
    ("fact", BACKGROUND_LANGUAGE, _re(rf"^我是(?:一名|一个|个|写|做|搞)?\s?{_PROGRAMS}\s?(?:开发(?:者|工程师)?|程序员|工程师|的)[。.!！]?$")),
    ("fact", "employer", _re(r"^我(?:现在|目前)?(?:在|就职于|任职于|供职于)\s?(?P<value>(?!家|这|那|学校|公司|外面|北京|上海|线|哪|努力|认真|一起|等|做|电脑|办公室|远程|图书馆)[\u4e00-\u9fffA-Za-z0-9 ]{2,16}?)(?:工作|上班|任职|就职)[。.!！]?$")),
    ("fact", "occupation", _re(rf"^我(?:现在|目前)?(?:是|做)(?:一名|一个|一位|个|名)?(?P<value>(?!你|他|她|谁)[\u4e00-\u9fffA-Za-z ]{{0,8}}?{_PROFESSION})[。.!！]?$")),
    ("fact", "occupation", _re(r"^我的(?:职业|工作|职务)是(?P<value>(?!在|把|为了|不|什么)[\u4e00-\u9fffA-Za-z ]{2,14})[。.!！]?$")),
    ("fact", "residence", _re(r"^我们?(?:现在|目前|一直|长期|常年)?(?:住在|居住在|定居(?:在|于)?|常住|家住|家在)\s?(?P<value>(?!这|那|一起|哪|隔壁|楼|酒店|医院|学校|宿舍|你|他|她)[\u4e00-\u9fffA-Za-z ]{2,14}?)(?:了)?[。.!！]?$")),
    ("fact", "birthday", _re(r"^我的?生日是\s?(?=.*(?:\d|月))[\u4e00-\u9fff\d /.-]{3,16}[。.!！]?$")),
    ("preference", "timezone", _re(r"^我(?:的时区是|在|处于|所在的?时区是)\s?[\u4e00-\u9fffA-Za-z0-9/+:_ -]{0,20}(?:时区|utc|gmt|[a-z]+/[a-z_]+)(?:[+-]\d{1,2})?[。.!！]?$")),
    ("fact", "diet", _re(r"^我(?:是|一直|现在)?(?:一个|个)?(?:吃素|素食者|素食主义者|纯素(?:者|主义者)?|吃全素|不吃肉|不吃辣|不吃猪肉|不吃海鲜|不吃牛肉)(?:的)?[。.!！]?$")),
)  # fmt: skip
_ALLERGY = _re(r"^我(?:从小|一直)?对(?P<what>(?!你|这|那|他|她|数字|钱|考试|工作)[\u4e00-\u9fffA-Za-z、和 ]{1,16}?)(?:严重|有点|有些)?过敏[。.!！]?$")


def about_the_speaker(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """Name, work, home, main language: facts of which a person has one at a time."""
    masked = simplified(sentence.masked)
    for memory_type, key, pattern in _FACTS:
        if pattern.match(masked):
            return Reading(memory_type=memory_type, key=key, belongs_to=SUBJECT)
    allergy = _ALLERGY.match(masked)
    return Reading(memory_type="fact", key=fact_key("allergy", allergy["what"]), belongs_to=SUBJECT) if allergy is not None else None


# -- decisions

_REASON = _re(r"[，,、；;\s]*(?:因为|由于|原因是|理由是|因|以便(?:于)?|为了|是为了|这样(?:可以|就能|能))(?!此|而|素)")
_LEADING_REASON = _re(r"^(?:因为|由于|鉴于|为了)(?P<reason>[^，,]{2,80})[，,]\s?(?:所以|因此|故)?(?P<decision>(?:我|我们|团队|项目组)(?:最终|最后|一致)?(?:决定|选择|选定).+)")
_DECISION = _re(
    r"""^(?: (?:我们?|团队|大家|项目组|我和.{1,8}|双方)(?:最终|最后|已经|已|刚刚|刚|今天|昨天|一致|还是|都|讨论后|经过讨论后?|商量后|开会|会上)*
            (?: 决定(?!不了|权|性|于|着) | 敲定 | 商定 | 选定 | 确定(?=用|使用|采用|选|改|不|把|由|在) | 定了 | 说好 | 约定 | 选择了?(?=用|使用|采用|[A-Za-z]) | 一致同意 | 达成一致 )了?[，,：:]?\s?(?P<what>.+)
          | (?:最终)?(?:决定|决议|结论|决策)\s?[：:]\s?(?P<noted>.+) )"""
)
_NO_DECISION = _re(r"^(?:再|先看|以后|下次|明天再|等|听你|你来|怎么|什么|是|了$|不了)")
_SUBJECT_OF = _re(r"^(?:把|将|让|对|给)?(?P<subject>[\u4e00-\u9fffA-Za-z0-9 ]{2,14}?)(?:都|也|全部|统一|今后|以后|一律)?(?:改用|采用|使用|换成|换用|改为|改成|选用|选择|沿用|迁移到|迁到|放在|放到|推迟到|提前到|由|用)")
_USED_FOR = _re(r"^(?:改用|采用|使用|用|选择|选用|选)?\s?.{1,24}?(?:来)?(?:做|作为|来做|负责|处理|实现|存|保存|管理|写)(?P<subject>[\u4e00-\u9fffA-Za-z0-9 ]{2,14})$")
_IN_FIELD = _re(r"^在(?P<subject>[\u4e00-\u9fffA-Za-z0-9 ]{2,14}?)(?:中|里|上|方面)(?:改用|采用|使用|用)")


def decision(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """What was decided, its reason split off (PK-12). The key is what it is for, else the decision itself."""
    masked = simplified(sentence.masked)
    leading = _LEADING_REASON.match(masked)
    begin = leading.start("decision") if leading is not None else 0
    match = _DECISION.match(masked[begin:])
    if match is None:
        return None
    group = "what" if match["what"] is not None else "noted"
    if _NO_DECISION.match(match[group]):
        return None
    end, rationale = len(sentence.text), None
    if leading is not None:
        rationale = sentence.text[leading.start("reason") : leading.end("reason")].strip()
    else:
        reason = _REASON.search(masked, begin + match.start(group) + 1)
        if reason is not None:
            rationale, end = sentence.text[reason.end() :].strip(" 。.!！，,"), reason.start()
    stated = masked[begin + match.start(group) : end].strip(" 。.!！，,")
    if not any(character.isalpha() for character in stated):
        return None
    subject = _IN_FIELD.match(stated) or _SUBJECT_OF.match(stated) or _USED_FOR.match(stated)
    key = fact_key("decision", subject["subject"].strip()) if subject is not None else statement_key("decision", stated)
    return Reading(memory_type="decision", key=key, said=(begin, end), rationale=rationale or None)


# -- goals

_GOAL = _re(r"^(?:我们?|本项目|团队|我个人)(?:的|今年的?|这学期的?|最近的?)*(?:长期|短期|年度|新年|最终|主要|下一个|阶段性|学习|当前|近期)?(?:目标|目的|计划|愿望|理想)(?:就|还|仍然|一直)?(?:是|为)[：:]?(?P<what>(?!什么|不|很|对的|错的|一样).+)|^(?:本月|年度|今年|学习|阶段)?目标\s?[：:]\s?(?P<noted>.+)")
_AIM = _re(r"^(?:我们?|团队)(?:也|还|就|真的|正|一直|非常|很|今年|明年|下半年|这学期|暑假)*(?:打算|计划|准备|希望能?|想要?|立志|力争|争取|要)(?P<what>.+)")
_FAR = _re(r"(?:年底|月底|季度末|学期末|毕业|暑假|寒假|春节|明年|今年|下半年|下个月|[一二三四五六七八九十\d]+\s?(?:月|号|日|年))(?:之?前|以前|内|之内|结束前|末)|今年|明年|年内|下半年|[一二三四五六七八九十两半\d]+\s?(?:个月|年|周)(?:之?内|以内|里)|(?:年底|月底)")
_AMBITION = _re(r"^(?:在.{0,10})?(?:学会|学完|掌握|考过|考上|考取|拿到|通过|减到|减掉|减重|跑完|写完|读完|出版|存够|攒够|成为|转行)")
_NOT_AN_AIM = _re(r"^(?:问|请教|知道|了解一下|说|告诉|听|看看|看一下|确认|你|您|他|她|先|睡|吃|喝|回家|回去|出门|休息|去(?:吃|买|睡)|跟你|和你|让你)")
_DEADLINE = _re(r"(?:在|于|到)?(?:今年)?(?:年底|月底|季度末|学期末|毕业|暑假|寒假|春节|明年|今年|下半年|下个月|[一二三四五六七八九十\d]+\s?(?:月|号|日|年)|[一二三四五六七八九十两半\d]+\s?(?:个月|年|周))+(?:之?前|以前|内|之内|以内|里|结束前|末|底)?[，,]?")
_FINISHING = _re(r"^(?:能|要|能够|把)?(?:学完|完成|做完|读完|看完|写完|结束)")


def goal(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """What the speaker is after; a wish without a horizon (我想回家) is none."""
    masked = simplified(sentence.masked)
    match = _GOAL.match(masked)
    if match is not None:
        what = match["what"] or match["noted"]
    else:
        match = _AIM.match(masked)
        if match is None or _NOT_AN_AIM.match(match["what"]) or not (_FAR.search(masked) or _AMBITION.match(match["what"])):
            return None
        what = match["what"]
    aim = _FINISHING.sub("", _DEADLINE.sub("", _REASON.split(what, maxsplit=1)[0]).strip(" 。.!！，,")).strip(" 。.!！，,了")
    if not any(character.isalpha() for character in aim):
        return None
    return Reading(memory_type="goal", key=fact_key("goal", aim), expected_resolution_at=dates.deadline(masked, spoken_at))


# -- constraints

_DEED = r"(?:使用|用|在|由|通过|从|部署|跑|运行|访问|读|写|改|修改|提交|发布|调用|连接|安装|装|选|选择|放|存|存放|保存|买|采购|支持|招|接受|占用|推送|合并|测试|训练|发|发送|公开|外传|上传|上线|删除|重启|导出|共享|超过|超出|分享|泄露|直接|升级|覆盖|动|碰|花|安排|查询|出现|包含|依赖|引入|透露|提供|储存|收集)"
_SUBJECT = r"(?P<what>(?!我|你|您|他|她|它|这|那|咱|谁)[\u4e00-\u9fffA-Za-z0-9·《》（）() _/-]{2,24}?)"
_CONSTRAINTS = (
    _re(rf"^(?:(?:本|这)[\u4e00-\u9fff]{{1,8}}|目前|暂时|我们|实验|训练)*(?:，|,)?(?:只能|只可以?|只允许|仅能|仅限|只准|只许|仅允许|仅可|限定)(?:{_DEED})\s?(?P<what>.+)"),
    _re(rf"^{_SUBJECT}(?:只能|只可以|只允许|仅能|仅限|只准|只许|仅允许|仅可|必须|务必|不得|不能|不许|禁止|不允许|严禁|不可以?|一律不|一律不得|绝不能|应当|须)(?:{_DEED}|有|经过?|保持|包含|小于|大于|低于|高于|少于|多于|控制在|满足|符合|遵守|先|按|以|是|为|加|带|完成|通过|备份|审核|评审|脱敏|加密)"),
    _re(rf"^(?:请|我们)?(?:绝对|一定|千万|永远)?(?:不得|不能|不许|禁止|不允许|严禁|不可以?|不要|别|切勿|请勿|绝不能)(?:再)?(?:{_DEED})(?P<what>(?!我|你|他|她|这样|了$).{{2,}})"),
    _re(rf"^(?:请)?(?:只用|仅用|只使用|仅使用|只跑|只读)\s?(?P<what>.+)"),
    _re(rf"^{_SUBJECT}(?:最多|至多|至少|最少|不超过|不能超过|不得超过|不要超过|上限(?:是|为)?|限制在|控制在|封顶)(?:是|为|只能)?\s?(?=.*[\d一二三四五六七八九十百千万两])"),
    _re(rf"^(?:最多|至多|至少|最少|不超过)(?:只能|可以|要)?(?:{_DEED})?\s?(?P<what>[\d一二三四五六七八九十百千万两]+.+)"),
    _re(rf"^(?:{_SUBJECT}的?)?(?:截止日期|截止时间|最后期限|预算|上限|配额)(?:是|为)\s?(?=.*[\d一二三四五六七八九十百千万两])"),
)  # fmt: skip
_NOT_A_CONSTRAINT = _re(r"^(?:我|你|他|她)|只能(?:说|这样|等|认|算|怪|靠|从头)|必须(?:承认|说|指出|走|去)|不能(?:怪|说|再|这样|理解|接受这)|用得|在家|在这|在那")
_NUMBERS = _re(r"[\d–—,.:%/~～-]+|[一二三四五六七八九十百千万两]+(?=[个块张台次条人元天小])")
_TARGET_OF_ONLY = _re(r"^(?P<thing>[A-Za-z][A-Za-z0-9 ]{0,20}|[\u4e00-\u9fff]{2,10})")


def constraint(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """What must, must not or may only be done. Numbers leave the key: GPU 0–3 and GPU 4–7 answer one question."""
    masked = simplified(sentence.masked)
    if _NOT_A_CONSTRAINT.search(masked):
        return None
    for pattern in _CONSTRAINTS:
        match = pattern.match(masked)
        if match is None:
            continue
        stated = match["what"] if match["what"] is not None else masked
        subject = " ".join(_NUMBERS.sub(" ", _REASON.split(stated, maxsplit=1)[0]).split()).strip(" 。.!！，,")
        if not any(character.isalpha() for character in subject):
            continue
        reason = _REASON.search(masked, match.end() if match.end() < len(masked) else match.start("what") + 1)
        rationale = sentence.text[reason.end() :].strip(" 。.!！，,") if reason is not None else None
        said = (0, reason.start()) if reason is not None else None
        return Reading(memory_type="constraint", key=fact_key("constraint", subject), verdict="not_applicable", rationale=rationale or None, said=said)
    return None


# -- dated states

_STATE = _re(
    rf"^(?:截至|截止到?|自从?|从|自打|到)\s?(?P<date>{dates.DATE}|今天|今日|目前|现在)\s?(?:起|开始|以来|为止|止|之后)?"
    rf"(?:\s?(?:到|至|—|-|~)\s?(?P<until>{dates.DATE})(?:为止|止)?)?[，,、：:\s]*(?P<stated>.+)"
)
_SUBJECT_STATE = _re(
    r"^(?P<subject>(?!我|你|他|她)[\u4e00-\u9fffA-Za-z0-9_./ -]{2,20}?)(?:已经|已|一直|都|仍|仍然|正在|将|共|目前|现在|就)*(?P<verb>运行(?:在|着|的是)?|跑|使用|用的?是?|改用|采用|是|为|有|需要|支持|达到|位于|属于|处于|还剩|剩余|部署|升级到|迁移到|停在|关闭|开放|暂停|停止|由)(?P<rest>.+)?"
)


def dated_state(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """How something stands from a day on; the day is when it became true (TM-01)."""
    masked = simplified(sentence.masked)
    match = _STATE.match(masked)
    if match is None:
        return None
    since = spoken_at if match["date"] in ("今天", "今日", "目前", "现在") else dates.read(match["date"])
    subject = _SUBJECT_STATE.match(match["stated"])
    if since is None or subject is None:
        return None
    ends = dates.day_after(match["until"]) if match["until"] else None
    if match["until"] and (ends is None or ends <= since):
        return None
    return Reading(
        memory_type="state",
        key=state_key(subject["subject"].strip(), subject["verb"], subject["rest"] or ""),
        epistemic_status="observed",
        valid_from=since,
        valid_to=ends,
    )


# -- progress

_DONE = _re(
    r"^(?:我们?|团队|项目组)?(?:今天|昨天|刚刚|刚|已经|已|终于|现在|目前|上周|这周|昨晚|今早|也|都|总算|顺利|全部|把)*"
    r"(?P<verb>(?:学|看|读|做|写|复习|听|练|刷|上|跑|搞|弄|修|改|整理|翻译|迁移|背|考|测|实现|开发|重构|阅读|学习)完(?:成)?|完成|搞定|通过|提交|发布|上线)了?\s?(?P<what>.+?)(?:了)?[。.!！~～]*$"
)
_REACHED = _re(r"^(?:我们?)?(?:今天|昨天|刚刚|刚|已经|已|现在|目前|才|都)*(?:学|看|读|做|写|复习|听|练|刷|上|进行|进展|推进)到了?\s?(?P<what>.*第?\s?[\d一二三四五六七八九十百]+\s?(?:章|节|课|单元|部分|页|集|讲|卷|步|阶段|周|天|关|级|题).{0,12}?)(?:了)?[。.!！]*$")
_IS_DONE = _re(r"^(?P<what>(?!我|你|他|她|这|那)[\u4e00-\u9fffA-Za-z0-9《》 ·-]{2,24}?)(?:我)?(?:今天|昨天|已经|已|也|都|终于|全部|刚刚|刚)*(?:学|看|读|做|写|复习|跑|改|迁移|翻译|整理)?(?:完成|完|写好|做好|弄好|搞定|上线|发布|合并|迁移完)了[。.!！]*$")
_NOT_DONE = _re(r"没|还未|尚未|未完成|快要?|马上|就要|准备|打算|想要?|差一?点|即将|不|别|请|明天|下周|才能|之前要|需要|应该|必须")
_NOT_WORK = _re(r"^(?:它|这|那|了|饭|早饭|午饭|晚饭|电影|电视|新闻|你|您|他|她|班|课了|澡|作业本|手机|歌|头发|水|妆|好看|热闹|一天|一身)|电影|电视剧|朋友圈|邮件|消息|综艺")
_WORK = _re(r"章|节|课|单元|书|教程|课程|论文|报告|作业|练习|任务|项目|模块|功能|需求|迁移|重构|测试|文档|实验|设计|方案|初稿|终稿|草稿|代码|接口|评审|部署|阶段|里程碑|迭代|版本|翻译|培训|考试|认证|调研|问卷|数据|清洗|标注|训练|集成|上线|验收|原型|题|页|单词|笔记|整理|安装|升级|备份|面试|PPT|API|库|系统|页面|脚本|工作")


def progress(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """How far something has come. The same thing at another step is a new value of one key."""
    masked = simplified(sentence.masked)
    match = _DONE.match(masked) or _REACHED.match(masked) or _IS_DONE.match(masked)
    if match is None or _NOT_WORK.search(match["what"]) or _NOT_DONE.search(masked[: match.end("what")]):
        return None
    what = _REASON.split(match["what"], maxsplit=1)[0].strip(" 。.!！，,了")
    if not what or (ZH_STEP.search(what) is None and not _WORK.search(what) and "《" not in what):
        return None
    return Reading(memory_type="progress", key=progress_key(what))


# -- leads

_HEDGE = _re(
    r"""^(?:这|这个|那|问题|原因|故障|报错|错误|根因|它|应该|感觉|我(?:觉得|感觉|想|看)?|，|,)*
        (?: (?:很|极|有)?可能 | 也许 | 或许 | 大概(?:率)? | 估计 | 恐怕 | 八成 | 多半 | 没准 | 说不定 | 我(?:猜|怀疑|估计|推测)(?:是)? | 怀疑 | 疑似 | 猜测 | 好像 | 似乎 | 看起来(?:像)? | 看样子 | 应该 )
        (?P<guess>(?:就)?(?:是|因为|由于|出在|出自|跟|和|与|在于|来自|源于|是因为|是由于)?.{2,60})"""
)
_MAY_BE = _re(r"^(?P<guess>(?:问题|原因|故障|根因|bug)(?:很)?(?:可能|也许|应该|大概)(?:就)?(?:是|出在|在于|来自).{2,60})")
_SUBJECT_MAY = _re(r"^(?P<guess>(?!我|你|他|她|这|那|明天|今天)[\u4e00-\u9fffA-Za-z0-9 ]{2,14}?(?:很|有)?(?:可能|也许|疑似|大概|似乎)(?:就)?(?:是|出了|有|已经|被)?.{1,30})")
_TECHNICAL = _re(r"问题|原因|故障|错误|报错|崩溃|超时|缓存|代理|节点|网络|配置|权限|内存|磁盘|驱动|版本|依赖|数据库|索引|锁|服务器|防火墙|证书|域名|接口|参数|脚本|线程|进程|泄漏|泄露|引起|导致|造成|过期|损坏|漏洞|bug|dns|gpu|cpu|队列|编码|固件|电池|传感器|接触不良|阀|泵|线路|路由")
_NOT_A_GUESS = _re(r"^(?:就)?(?:是)?(?:我(?!的|们的)|你(?!的)|他(?!的)|她(?!的)|吧|的|这样|那样|明天|昨天|今天|后天|去年|明年|下周|周|星期|上午|下午|晚上|早上|[\d一二三四五六七八九十]+(?:点|个|天|月|年|号|分|块|元)|要|会|不|没有问题|没问题|可以|能|去|来|想|需要|有点)")


def lead(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """A guess at a cause: an inference, provisional, never more (CA-13)."""
    masked = simplified(sentence.masked)
    match = _HEDGE.match(masked) or _MAY_BE.match(masked) or _SUBJECT_MAY.match(masked)
    if match is None or _NOT_A_GUESS.match(match["guess"]) or not _TECHNICAL.search(masked):
        return None
    return Reading(memory_type="finding", key=statement_key("finding", match["guess"].strip(" 。.!！")), epistemic_status="inferred", verdict="provisional")


def noted(sentence: Sentence) -> Reading | None:
    """What was asked to be remembered and is nothing else: kept as the speaker's own statement."""
    if len(sentence.text) < 4 or not any(character.isalpha() for character in sentence.text):  # noqa: PLR2004
        return None
    return Reading(memory_type="fact", key=statement_key("noted", sentence.text.strip(" 。.!！")), belongs_to=SUBJECT)


# In this order; the first that understands the sentence has it.
RULES: tuple[Callable[[Sentence, datetime | None], Reading | None], ...] = (
    task_parameter,
    correction,
    about_the_speaker,
    reply_preference,
    liking,
    decision,
    goal,
    dated_state,
    constraint,
    progress,
    lead,
)
