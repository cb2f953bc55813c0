"""Decisions, goals and constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors import dates
from apps.memories.extractors.chinese.frame import REASON, simplified
from apps.memories.extractors.concepts import (
    Reading,
)
from apps.memories.extractors.keys import fact_key, statement_key
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from apps.memories.extractors.sentences import Sentence


# -- decisions

_REASON_FIRST = verbose(
    r"^(?:因为|由于|鉴于|为了)(?P<reason>[^，,]{2,80})[，,]\s?(?:所以|因此|故)?(?P<decision>(?:我|我们|团队|项目组)(?:最终"
    r"|最后|一致)?(?:决定|选择|选定).+)"
)
_DECISION = verbose(
    r"""^(?: (?:我们?|团队|大家|项目组|我和.{1,8}|双方|(?=开会|会上|最后决定|最终决定))
            (?:最终|最后|已经|已|刚刚|刚|今天|昨天|一致|还是|都|讨论后|经过讨论后?|商量后|开会|会上)*+
            (?: 决定(?!不了|权|性|于|着) | 敲定 | 商定 | 选定 | 拍板 | 定下来 | 确定(?=用|使用|采用|选|改|不|把|由|在) | 定了
                | 说好 | 约定 | 选择了?\s?(?=用|使用|采用|[A-Za-z]) | (?<=们)选择了 | 一致同意
                    | 达成一致 )了?[，,：:]?\s?(?P<what>.+)
          | (?:最终)?(?:决定|决议|结论|决策)\s?[：:]\s?(?P<noted>.+) )"""
)
_NO_DECISION = verbose(r"^(?:再|先看|以后|下次|明天再|等|听你|你来|怎么|什么|是|了$|不了)")
_SUBJECT_OF = verbose(
    r"^(?:把|将|让|对|给)?(?P<subject>[\u4e00-\u9fffA-Za-z0-9 ]{2,14}?)(?:都|也|全部|统一|今后|以后|一律)?(?:改用|采用"
    r"|使用|换成|换用|改为|改成|选用|选择|沿用|迁移到|迁到|放在|放到|推迟到|提前到|由|用)"
)
_USED_FOR = verbose(
    r"^(?:改用|采用|使用|用|选择|选用|选)?\s?.{1,24}?(?:来)?(?:做|作为|来做|负责|处理|实现|存|保存|管理"
    r"|写)(?P<subject>[\u4e00-\u9fffA-Za-z0-9 ]{2,14})$"
)
_IN_FIELD = verbose(r"^在(?P<subject>[\u4e00-\u9fffA-Za-z0-9 ]{2,14}?)(?:中|里|上|方面)(?:改用|采用|使用|用)")


def decision(sentence: Sentence) -> Reading | None:
    """What was decided, its reason split off (PK-12). The key is what it is for, else the decision itself."""
    masked = simplified(sentence.masked)
    leading = _REASON_FIRST.match(masked)
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
        reason = REASON.search(masked, begin + match.start(group) + 1)
        if reason is not None:
            rationale, end = sentence.text[reason.end() :].strip(" 。.!！，,"), reason.start()
    stated = masked[begin + match.start(group) : end].strip(" 。.!！，,")
    if not any(character.isalpha() for character in stated):
        return None
    subject = _IN_FIELD.match(stated) or _SUBJECT_OF.match(stated) or _USED_FOR.match(stated)
    key = fact_key("decision", subject["subject"].strip()) if subject is not None else statement_key("decision", stated)
    return Reading(memory_type="decision", key=key, said=(begin, end), rationale=rationale or None)


# -- goals

_GOAL = verbose(
    r"^(?:我们?|本项目|团队|我个人|(?=长期|短期|年度|今年|明年|本月|学习|下一个|阶段|近期))(?:的|今年的?|明年的?"
    r"|本月的?|这学期的?|最近的?)*+(?:长期|短期|年度|新年|最终|主要|下一个|阶段性|学习"
    r"|当前|近期)?(?:目标|目的|计划|愿望|梦想|理想)(?:就|还|仍然|一直)?(?:是|为)[：:]?(?P<what>(?!什么|不|很|对的|错的"
    r"|一样).+)"
    r"|^(?:本月|年度|今年|学习|阶段)?目标\s?[：:]\s?(?P<noted>.+)"
)
_AIM = verbose(
    r"^(?:我们?|团队)(?:也|还|就|真的|正|一直|非常|很|今年|明年|下半年|这学期|暑假)*+(?:打算|计划|准备|希望能?|想要?|立志"
    r"|力争|争取|要)(?P<what>.+)"
)
_FAR = verbose(
    r"(?:年底|月底|季度末|学期末|毕业|暑假|寒假|春节|明年|今年|下半年|下个月|[一二三四五六七八九十\d]+\s?(?:月|号|日"
    r"|年))(?:之?前|以前|内|之内|结束前|末)|今年|明年|年内|下半年|[一二三四五六七八九十两半\d]+\s?(?:个月|年|周)(?:之?内"
    r"|以内|里)|(?:年底|月底)|(?:圣诞节?|国庆|元旦|中秋|五一|十一|过年|放假|开学|结婚)(?:之?前|以前)"
)
_AMBITION = verbose(
    r"^(?:在.{0,10}|.{0,8}(?:能够?|可以))?(?:学会|学完|掌握|考过|考上|考取|拿到|通过|减到|减掉|减重|跑完|写完|读完"
    r"|出版|存够|攒够|成为|转行)"
)
_NOT_AN_AIM = verbose(
    r"^(?:问|请教|知道|了解一下|说|告诉|听|看看|看一下|确认|你|您|他|她|先|睡|吃|喝|回家|回去|出门|休息|去(?:吃|买|睡)"
    r"|跟你|和你|让你)"
)
_DEADLINE = verbose(
    r"(?:在|于|到)?(?:今年)?(?:年底|月底|季度末|学期末|毕业|暑假|寒假|春节|明年|今年|下半年|下个月"
    r"|[一二三四五六七八九十\d]+\s?(?:月|号|日|年)|[一二三四五六七八九十两半\d]+\s?(?:个月|年|周))++(?:之?前|以前|内|之内"
    r"|以内|里|结束前|末|底)?[，,]?"
)
_FINISHING = verbose(r"^(?:能|要|能够|把)?(?:学完|完成|做完|读完|看完|写完|结束)")


def goal(sentence: Sentence) -> Reading | None:
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
    aim = _FINISHING.sub("", _DEADLINE.sub("", REASON.split(what, maxsplit=1)[0]).strip(" 。.!！，,")).strip(" 。.!！，,了")
    if not any(character.isalpha() for character in aim):
        return None
    return Reading(
        memory_type="goal", key=fact_key("goal", aim), expected_resolution_at=dates.deadline(masked, sentence.spoken_at)
    )


# -- constraints

_DEED = (
    r"(?:使用|用|在|由|通过|从|部署|跑|运行|访问|读|写|改|修改|提交|公布|披露|联系|更换|发布|调用|连接|安装|装|选|选择"
    r"|放(?!弃|心|松)|存|存放|保存|买|采购"
    r"|支持|招|接受|占用|推送|合并|测试|训练|发|发送|公开|外传|上传|上线|删除|重启|导出|共享|超过|超出|分享|泄露|直接|升级"
    r"|覆盖|动|碰|花|安排|查询|出现|包含|依赖|引入|透露|提供|储存|收集)"
)
_SUBJECT = r"(?P<what>(?!我|你|您|他|她|它|这|那|咱|谁)[\u4e00-\u9fffA-Za-z0-9·《》（）() _/-]{2,24}?)"
_CONSTRAINTS = (
    verbose(
        rf"^(?:[本这][\u4e00-\u9fff]{{1,8}}?)?(?:目前|暂时|我们|实验|训练)*+(?:，|,)?(?:只能|只可以?|只允许|仅能|仅限|只准"
        rf"|只许|仅允许|仅可|限定)(?:{_DEED})\s?(?P<what>.+)"
    ),
    verbose(
        rf"^(?:[本这][\u4e00-\u9fff]{{1,8}}?)?(?:目前|我们)*+(?:只能|只可以?|只允许|仅能|不能|不得|不可以"
        rf"|不允许)(?P<what>在.{{1,12}}(?:{_DEED}).*)"
    ),
    verbose(
        rf"^{_SUBJECT}(?:只能|只可以|只允许|仅能|仅限|只准|只许|仅允许|仅可|必须|务必|不得|不能|不许|禁止|不允许|严禁"
        rf"|不可以?|一律不|一律不得|绝不能|应当|须)(?:{_DEED}|有|经过?|保持|包含|小于|大于|低于|高于|少于|多于|控制在|满足"
        rf"|符合|遵守|先|按|每|随|至少|做|走|签|填|以|是|为|加|带|完成|通过|备份|审核|评审|脱敏|加密)"
    ),
    verbose(
        rf"^(?:请|我们)?(?:绝对|一定|千万|永远)?(?:不得|不能|不许|禁止|不允许|严禁|不可以?|不要|别|切勿|请勿"
        rf"|绝不能)(?:再)?(?:把|将|{_DEED})(?P<what>(?!我|你|他|她|这样|了$).{{2,}})"
    ),
    verbose(
        rf"^(?:请|大家|我们)?(?:必须|务必|一定要|应当)(?P<what>(?:{_DEED}|先|经过|保持|保证|确保|遵守|按|加密|备份"
        rf"|脱敏).{{2,}})"
    ),
    verbose(r"^只有(?P<what>(?!你|我|他|她|这样|一)[\u4e00-\u9fffA-Za-z]{2,12}?)(?:才)?(?:可以|能够?|允许|有权)"),
    verbose(r"^(?:请)?(?:只用|仅用|只使用|仅使用|只跑|只读)\s?(?P<what>.+)"),
    verbose(
        rf"^{_SUBJECT}(?:最多|至多|至少|最少|不超过|不能超过|不得超过|不要超过|上限(?:是|为)?|限制在|控制在|封顶)(?:是|为"
        rf"|只能)?\s?(?=.*[\d一二三四五六七八九十百千万两])"
    ),
    verbose(rf"^(?:最多|至多|至少|最少|不超过)(?:只能|可以|要)?(?:{_DEED})?\s?(?P<what>[\d一二三四五六七八九十百千万两]+.+)"),
    verbose(
        rf"^(?:{_SUBJECT}的?)?(?:截止日期|截止时间|最后期限|预算|上限|配额)(?:是"
        rf"|为)\s?(?=.*[\d一二三四五六七八九十百千万两])"
    ),
)  # fmt: skip
_NOT_A_CONSTRAINT = verbose(
    r"^(?:我(?!们)|你|他|她)|只能(?:说|这样|等|认|算|怪|靠|从头)|必须(?:承认|说|指出|走|去)|不能(?:怪|说|再|这样|理解"
    r"|接受这)|用得|在家|在这|在那"
)
_NUMBERS = verbose(r"[\d–—,.:%/~～-]+|[一二三四五六七八九十百千万两]+(?=[个块张台次条人元天小])")


def constraint(sentence: Sentence) -> Reading | None:
    """What must, must not or may only be done. Numbers leave the key: GPU 0–3 and GPU 4–7 answer one question."""
    masked = simplified(sentence.masked)
    if _NOT_A_CONSTRAINT.search(masked):
        return None
    for pattern in _CONSTRAINTS:
        match = pattern.match(masked)
        if match is None:
            continue
        stated = match["what"] if match["what"] is not None else masked
        subject = " ".join(_NUMBERS.sub(" ", REASON.split(stated, maxsplit=1)[0]).split()).strip(" 。.!！，,")
        if not any(character.isalpha() for character in subject):
            continue
        reason = REASON.search(masked, match.end() if match.end() < len(masked) else match.start("what") + 1)
        rationale = sentence.text[reason.end() :].strip(" 。.!！，,") if reason is not None else None
        said = (0, reason.start()) if reason is not None else None
        return Reading(
            memory_type="constraint",
            key=fact_key("constraint", subject),
            verdict="not_applicable",
            rationale=rationale or None,
            said=said,
        )
    return None
