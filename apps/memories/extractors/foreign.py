"""Texts that are not the subject's own word: what a page orders and what a tool claims (CA-14, EV-16, ID-32).

Nothing here becomes a memory by itself. An order is proposed only so that its refusal is on record; a claim of success
only so that it can wait for its evidence.
"""

from __future__ import annotations

from apps.memories.extractors.base import NEEDS_EVIDENCE, UNTRUSTED_INSTRUCTION
from apps.memories.extractors.concepts import Reading
from apps.memories.extractors.keys import digest
from apps.memories.extractors.patterns import verbose

_ORDERS = (
    verbose(
        r"\b(?:ignore|disregard|forget|bypass|override|circumvent|do\ not\ follow"
        r"|stop\ following)\b.{0,60}?\b(?:instructions?|permissions?|rules?|restrictions?|guidelines?|polic(?:y|ies)"
        r"|prompts?|safety|filters?|checks?|above|previous|prior)\b"
    ),
    verbose(
        r"(?:^|[:,.;]\s*|\b(?:and|then|please|must|should|now|to|you)\ )(?:save|store|remember|keep|record|write\ down"
        r"|send|leak|exfiltrate|forward|post|e?mail|upload|reveal|print|output|show|export|share|disclose"
        r"|paste)\b.{0,50}?\b(?:keys?|passwords?|tokens?|secrets?|credentials?|system\ prompt|conversation|chat\ history"
        r"|memor(?:y|ies)|private\ data)\b"
    ),
    verbose(
        r"^\W{0,3}(?:system|assistant|developer|admin(?:istrator)?|root)\s*(?:prompt|message|instructions?|note"
        r"|override)?\s*[:>\]]|\bSYSTEM:|\[/?(?:system|inst)\]|<\|?(?:im_start|system)|\#\#\#\s*(?:system|instruction)"
    ),
    verbose(
        r"\b(?:you\ are\ now|from\ now\ on,?\ (?:you|always|never|approve|answer|treat|ignore|set)|act\ as\ (?:a|an|the"
        r"|my)|pretend\ (?:to\ be|you)|new\ instructions?\b|your\ (?:new|real|actual)\ (?:task|goal|instructions?|role))"
    ),
    verbose(
        r"\b(?:do\ not|don['’]t|never|without)\ (?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|ask(?:ing)?|alert(?:ing)?"
        r"|notify(?:ing)?)\b.{0,30}?\b(?:users?|anyone|humans?|owner|operator|permission|confirmation|approval)\b"
    ),
    verbose(
        r"\b(?:ai|assistants?|agents?|llms?|language\ models?|chat\s?bots?|copilot|gpt|claude)\b.{0,40}?\b(?:must|should"
        r"|have\ to|need\ to|please|shall|are\ (?:required|instructed|ordered))\b"
    ),
    verbose(
        r"\b(?:approve|grant|give|elevate|escalate|raise|set|change|promote|switch)\b.{0,40}?\b(?:access|permissions?"
        r"|privileges?|rights?|roles?|scope|every\ deploy\w*|all\ deploy\w*|to\ (?:organi[sz]ation|admin|root|owner))\b"
    ),
    verbose(
        r"\b(?:remember\ (?:that|this)|(?:add|save|write|store|commit)\ (?:this|that|the\ following|it)\ (?:to|in"
        r"|into)\ (?:your\ |the\ |long[- ]term\ )*+memory)\b"
    ),
    verbose(r"\b(?:run|execute|call|invoke)\b.{0,30}?\b(?:the\ following|this)\ (?:command|tool|function|code|script)\b"),
    verbose(
        r"(?:忽略|无视|绕过|忘记|忘掉|跳过|不要遵守|不用遵守|解除|突破|忽視|無視|繞過).{0,16}(?:指令|权限|權限|限制|规则"
        r"|規則|提示|要求|安全|审核|約束|约束|之前|以上|上述)"
    ),
    verbose(
        r"(?:保存|记住|記住|存储|存入|写入|记录|記錄|发送|發送|上传|泄露|导出|输出|告诉|透露|转发|公开|把).{0,16}(?:密钥"
        r"|密鑰|密码|密碼|令牌|口令|凭证|凭据|系统提示|聊天记录|对话记录|记忆|记憶|api\s?key|token)"
    ),
    verbose(
        r"^(?:系统|系統|管理员|开发者)(?:提示|消息|指令)?\s*[:：]|你现在是|你現在是|扮演.{0,10}(?:角色|管理员|系统)"
        r"|从现在(?:开始|起).{0,4}你|新的?指令"
    ),
    verbose(r"(?:不要|别|无需|不必).{0,4}(?:告诉|通知|询问|提醒|让).{0,6}(?:用户|使用者|任何人|主人|管理员)"),
    verbose(r"(?:AI|助手|智能体|模型|机器人|大模型|agent).{0,8}(?:必须|应该|应当|需要|务必|请)"),
    verbose(r"(?:批准|授予|提升|开放|赋予|修改|设置).{0,12}(?:权限|访问权|角色|作用域|所有部署|全部部署|管理员)"),
    verbose(r"(?:请|務必|务必|一定要?)(?:你)?(?:记住|記住|记下)"),
)  # fmt: skip


def order(masked: str, text: str) -> Reading | None:
    """An instruction to the agent inside material that may not instruct it."""
    if not any(pattern.search(masked) for pattern in _ORDERS):
        return None
    return Reading(
        memory_type="procedural",
        key=f"untrusted.{digest(text)}",
        epistemic_status="inferred",
        marks=frozenset({UNTRUSTED_INSTRUCTION}),
    )


_CLAIMS = (
    ("tests", verbose(
        r"^(?:ok|done|success|result)?[,:!. ]*(?:all\ )?(?:of\ )?(?:the\ )?(?:\d+\ )?(?:unit\ |integration\ |e2e\ "
        r"|regression\ )?tests?(?:\ cases?|\ suite)?\ (?:have\ |has\ |are\ |is\ |were\ |all\ |now\ )*+(?:pass(?:ed|ing|es)?"
        r"|green|succeed(?:ed)?|successful|ok)\b"
    )),
    ("build", verbose(
        r"^(?:the\ )?(?:build|compilation|pipeline|ci)\ (?:has\ |was\ |is\ )?(?:succeeded|successful|passed|completed"
        r"|green|finished|done)\b"
    )),
    ("deployment", verbose(
        r"^(?:the\ )?(?:deploy(?:ment)?|release|rollout)\ (?:has\ |was\ |is\ )?(?:succeeded|successful|passed|completed?"
        r"|finished|done)\b|^(?:successfully\ )?deployed\ successfully\b|^deployed\ (?:successfully|to\ \w+\ successfully)"
    )),
    ("{}", verbose(
        r"^(?:the\ )?(?P<what>migration|upgrade|backup|restore|import|export|sync|installation|verification|validation"
        r"|scan|lint)\ (?:has\ |was\ |is\ )?(?:succeeded|successful(?:ly)?|passed|completed?(?:\ successfully)?|finished"
        r"|done)\b"
    )),
    ("errors", verbose(
        r"^(?:there\ (?:were|are)\ )?no\ (?:errors?|failures?|issues?|problems?|warnings?"
        r"|regressions?)(?:\ (?:were\ )?(?:found|detected|remain))?[.!]?$"
    )),
    ("everything", verbose(r"^everything\ (?:works|is\ working|passes|passed|is\ green|is\ fine|looks\ good|succeeded)\b")),
    ("fix", verbose(
        r"^(?:the\ )?(?:bug|issue|problem|defect)\ (?:has\ been\ |is\ |was\ )(?:now\ )?(?:fixed|resolved|solved)\b"
        r"|^(?:fixed|resolved)\ (?:the\ )?(?:bug|issue|problem)\b"
    )),
    ("tests", verbose(
        r"^(?:所有|全部|全体|\d+\s?(?:个|项))?的?(?:单元|集成|回归|自动化|端到端)?测试(?:用例)?(?:都|全部|均|已经?"
        r"|全)*+(?:通过|成功|过了)"
    )),
    ("build", verbose(r"^(?:项目)?(?:构建|编译|流水线)(?:已经?|全部|都)?(?:成功|完成|通过)")),
    ("deployment", verbose(r"^(?:部署|发布|上线)(?:已经?|全部)?(?:成功|完成)|^(?:已经?)?成功(?:部署|上线|发布)")),
    ("{}", verbose(
        r"^(?:数据)?(?P<what>迁移|备份|安装|升级|导入|导出|同步|验证|校验|恢复)(?:已经?|全部)?(?:成功|完成|通过)"
    )),
    ("errors", verbose(r"^(?:没有|未|并未|无)(?:发现)?(?:任何)?(?:错误|问题|失败|报错|异常)[。.!！]?$")),
    ("everything", verbose(r"^(?:一切|全部|全都)(?:正常|通过|成功)")),
    ("fix", verbose(r"^(?:该|这个)?(?:问题|bug|缺陷|故障)(?:已经?|都)?(?:修复|解决)(?:了|完成)?")),
)  # fmt: skip
_THINGS = {
    "迁移": "migration",
    "备份": "backup",
    "安装": "installation",
    "升级": "upgrade",
    "导入": "import",
    "导出": "export",
    "同步": "sync",
    "验证": "verification",
    "校验": "validation",
    "恢复": "restore",
}


def claim_of_success(masked: str) -> Reading | None:
    """A tool's word that something went well; nothing is taken from it before its results are there (EV-16)."""
    for thing, pattern in _CLAIMS:
        match = pattern.match(masked)
        if match is not None:
            named = thing.format(_THINGS.get(match["what"], match["what"].lower())) if "{}" in thing else thing
            return Reading(
                memory_type="finding",
                key=f"outcome.{named}",
                epistemic_status="observed",
                verdict="provisional",
                marks=frozenset({NEEDS_EVIDENCE}),
            )
    return None
