"""How far things are, how they stand since when, and what is only guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors import dates
from apps.memories.extractors.chinese.frame import REASON, simplified
from apps.memories.extractors.concepts import (
    ZH_STEP,
    Reading,
    progress_key,
    state_key,
)
from apps.memories.extractors.keys import statement_key
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from apps.memories.extractors.sentences import Sentence


# -- progress

_DONE = verbose(
    r"^(?:我们?|团队|项目组)?(?:今天|昨天|刚刚|刚|已经|已|终于|现在|目前|上周|这周|昨晚|今早|也|都|总算|顺利|全部|把)*+"
    r"(?P<verb>(?:学|看|读|做|写|复习|听|练|刷|上|跑|搞|弄|修|改|整理|翻译|迁移|背|考|测|实现|开发|重构|阅读"
    r"|学习)完(?:成)?|完成|搞定|通过|提交|发布|上线)了?\s?(?P<what>.+?)(?:了)?[。.!！~～]*$"
)
_HAS_DONE = verbose(
    r"^(?:我们?|团队|项目组)?(?:今天|昨天|已经|终于|刚|刚刚)*+把(?P<what>.{2,24}?)(?:学|看|读|做|写|改|搭|跑|迁移|翻译"
    r"|整理|测|实现|部署|搞|弄)(?:完成?|好|定)了[。.!！]*$"
)
_SUBMITTED = verbose(
    r"^(?P<what>(?!我|你|他|她|这|那)[\u4e00-\u9fffA-Za-z0-9《》 ·-]{2,24}?)(?:均|都|现|也)?已经?(?:全部)?(?:提交|完成"
    r"|上线|发布|合并|交付|验收|通过)(?:了)?[。.!！]*$"
)
_SHARE = verbose(
    r"^(?P<what>(?!我|你|他|她|这|那)[\u4e00-\u9fffA-Za-z0-9《》 ·-]{2,24}?)(?:我们?)?(?:已经|已|才|刚|大概"
    r"|大约)*+(?:完成|做|写|看|读|学|翻译|迁移|进行|推进)(?:了|到|完)"
    r"\s?(?:\d{1,3}\s?%|百分之[一二三四五六七八九十百]+|一半|一大半|三分之[一二])(?:了)?[。.!！]*$"
)
_REACHED = verbose(
    r"^(?:我们?)?(?:今天|昨天|刚刚|刚|已经|已|现在|目前|才|都)*+(?:学|看|读|做|写|复习|听|练|刷|上|进行|进展"
    r"|推进|打|玩|过|走)到了?\s?(?P<what>.*第?\s?[\d一二三四五六七八九十百]+\s?(?:章|节|课|单元|部分|页|集|讲|卷|步"
    r"|阶段|周|天|关|级"
    r"|题).{0,12}?)(?:了)?[。.!！]*$"
)
_IS_DONE = verbose(
    r"^(?P<what>(?!我|你|他|她|这|那)[\u4e00-\u9fffA-Za-z0-9《》 ·-]{2,24}?)(?:我)?(?:今天|昨天|已经|已|也|都|终于|全部"
    r"|刚刚|刚)*+(?:学|看|读|做|写|复习|跑|改|迁移|翻译|整理)?(?:完成|完|写好|做好|弄好|搞定|上线|发布|合并"
    r"|迁移完)了[。.!！]*$"
)
_NOT_DONE = verbose(
    r"没|还未|尚未|未完成|快要?|马上|就要|准备|打算|想要?|差一?点|即将|不|别|请|明天|下周|才能|之前要|需要|应该|必须"
)
_NOT_WORK = verbose(
    r"^(?:它|[这那](?![本门篇份套册章节])|了|饭|早饭|午饭|晚饭|电影|电视|新闻|你|您|他|她|班|课了|澡|作业本|手机|歌"
    r"|头发|水|妆|好看|热闹|一天"
    r"|一身)|电影|电视剧|朋友圈|邮件|消息|综艺"
)
_WORK = verbose(
    r"章|节|课|单元|书|教程|课程|论文|报告|作业|练习|任务|项目|模块|功能|需求|迁移|重构|测试|文档|实验|设计|方案|初稿|终稿"
    r"|草稿|代码|接口|评审|部署|阶段|里程碑|迭代|版本|翻译|培训|考试|认证|调研|问卷|数据|清洗|标注|训练|集成|上线|验收"
    r"|原型|题|页|单词|笔记|整理|安装|升级|备份|面试|PPT|API|库|系统|页面|脚本|工作"
)


def progress(sentence: Sentence) -> Reading | None:
    """How far something has come. The same thing at another step is a new value of one key."""
    masked = simplified(sentence.masked)
    match = (
        _DONE.match(masked)
        or _REACHED.match(masked)
        or _SHARE.match(masked)
        or _HAS_DONE.match(masked)
        or _SUBMITTED.match(masked)
        or _IS_DONE.match(masked)
    )
    if match is None or _NOT_WORK.search(match["what"]) or _NOT_DONE.search(masked[: match.end("what")]):
        return None
    what = REASON.split(match["what"], maxsplit=1)[0].strip(" 。.!！，,了")
    if not what or (ZH_STEP.search(what) is None and not _WORK.search(masked) and "《" not in what):
        return None
    return Reading(memory_type="progress", key=progress_key(what))


# -- dated states

_STATE = verbose(
    rf"^(?:截至|截止到?|自从?|从|自打|到)\s?(?P<date>{dates.DATE}|今天|今日|目前|现在)\s?[底初末]?\s?(?:起|开始|以来"
    rf"|为止|止|之后)?"
    rf"(?:\s?(?:到|至|—|-|~)\s?(?P<until>{dates.DATE})(?:为止|止)?)?[，,、：:\s]*(?P<stated>.+)"
)
_STATE_AFTER = verbose(
    rf"^(?P<subject>(?!我|你|他|她)[\u4e00-\u9fffA-Za-z0-9_./ -]{{2,16}}?)(?:从|自)\s?(?P<date>{dates.DATE})\s?(?:起"
    rf"|开始|以来|之后)[，,]?"
    r"\s?(?P<stated>.+)"
)
_SUBJECT_STATE = verbose(
    r"^(?P<subject>(?!我|你|他|她)[\u4e00-\u9fffA-Za-z0-9_./ -]{2,20}?)(?:已经|已|一直|都|仍|仍然|正在|将|共|目前|现在"
    r"|就)*+(?P<verb>运行(?:在|着|的是)?|跑|使用|用的?是?|改用|采用|是|为|有|需要|支持|达到|位于|属于|处于|还剩|剩余"
    r"|部署|升级到|迁移到|停在|关闭|开放|暂停|停止|只读|停用|启用|可用|恢复|由|在)(?P<rest>.+)?"
)


def dated_state(sentence: Sentence) -> Reading | None:
    """How something stands from a day on; the day is when it became true (TM-01)."""
    masked = simplified(sentence.masked)
    match = _STATE.match(masked)
    after = _STATE_AFTER.match(masked) if match is None else None
    if after is not None:
        since = dates.read(after["date"])
        key = state_key(after["subject"].strip(), "", after["stated"])
        return Reading(memory_type="state", key=key, epistemic_status="observed", valid_from=since) if since is not None else None
    if match is None:
        return None
    since = sentence.spoken_at if match["date"] in ("今天", "今日", "目前", "现在") else dates.read(match["date"])
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


# -- leads

_HEDGE = verbose(
    r"""^(?:这个?|那|问题|原因|故障|报错|错误|根因|它|感觉|我(?:觉得|感觉|想|看)|，|,)*+
        (?: (?:很|极|有)?可能 | 也许 | 或许 | 大概(?:率)? | 估计 | 恐怕 | 八成 | 多半 | 没准 | 说不定 | 我(?:猜
            |怀疑|估计|推测)(?:是)? | 怀疑 | 疑似 | 猜测 | 好像 | 似乎 | 看起来(?:像)? | 看样子 | 像是 | 不排除 | 应该 )
        (?P<guess>(?:就)?(?:是|因为|由于|出在|出自|跟|和|与|在于|来自|源于|是因为|是由于)?.{2,60})"""
)
_MAY_BE = verbose(r"^(?P<guess>(?:问题|原因|故障|根因|bug)(?:很)?(?:可能|也许|应该|大概)(?:就)?(?:是|出在|在于|来自).{2,60})")
_SUBJECT_MAY = verbose(
    r"^(?P<guess>(?!我|你|他|她|这|那|明天|今天)[\u4e00-\u9fffA-Za-z0-9 ]{2,14}?(?:很|有)?(?:可能|也许|疑似|大概"
    r"|似乎)(?:就)?(?:是|出了|有|已经|被)?.{1,30})"
)
_TECHNICAL = verbose(
    r"问题|原因|故障|错误|报错|崩溃|超时|缓存|代理|节点|网络|配置|权限|内存|磁盘|驱动|版本|依赖|数据库|索引|锁|服务器"
    r"|防火墙|证书|域名|接口|参数|脚本|线程|进程|泄漏|泄露|引起|导致|造成|过期|损坏|漏洞|bug|dns|gpu|cpu|队列|编码|固件"
    r"|电池|传感器|接触不良|阀|泵|线路|路由"
)
_NOT_A_GUESS = verbose(
    r"^(?:就)?(?:是)?(?:我(?!的|们的)|你(?!的)|他(?!的)|她(?!的)|吧|的|这样|那样|明天|昨天|今天|后天|去年|明年|下周|周"
    r"|星期|上午|下午|晚上|早上|[\d一二三四五六七八九十]+(?:点|个|天|月|年|号|分|块|元)|要|会|不|没有问题|没问题|可以|能"
    r"|去|来|想|需要|有点)"
)


def lead(sentence: Sentence) -> Reading | None:
    """A guess at a cause: an inference, provisional, never more (CA-13)."""
    masked = simplified(sentence.masked)
    match = _HEDGE.match(masked) or _MAY_BE.match(masked) or _SUBJECT_MAY.match(masked)
    if match is None or _NOT_A_GUESS.match(match["guess"]) or not _TECHNICAL.search(masked):
        return None
    return Reading(
        memory_type="finding",
        key=statement_key("finding", match["guess"].strip(" 。.!！")),
        epistemic_status="inferred",
        verdict="provisional",
    )
