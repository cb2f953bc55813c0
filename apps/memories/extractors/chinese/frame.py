"""What is not a plain statement, and what stands around one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.memories.extractors.sentences import Sentence


REASON = verbose(r"[，,、；;\s]*(?:因为|由于|原因是|理由是|因|以便(?:于)?|为了|是为了|这样(?:可以|就能|能))(?!此|而|素)")
_TRADITIONAL = (
    "請後說語為來個這對會開學還應該從時間歡愛討厭習慣總報寫決記錄選擇題問統與計劃標過別讓給設進點務員號裡沒變現實驗環"
    "運數據則當買賣讀講練課單義許邊離職稱換轉遷達組織項專業醫師護論寬體證幾萬億傳樣關係壞錯誤網絡緩憶無麼嗎聽見張園結"
    "簡潔詳細長雖準備礎參覽預發試測範圍優費經議輪圖書們認誰約電郵詞處態屬級鐵終庫頁檔夾戶線調負責滿閉啟閒隊識腦鍵銷錢"
    "歲舊遲須頭絕編碼穩熱視頻筆幫煩戰勝傾"
)
_SIMPLIFIED = (
    "请后说语为来个这对会开学还应该从时间欢爱讨厌习惯总报写决记录选择题问统与计划标过别让给设进点务员号里没变现实验环"
    "运数据则当买卖读讲练课单义许边离职称换转迁达组织项专业医师护论宽体证几万亿传样关系坏错误网络缓忆无么吗听见张园结"
    "简洁详细长虽准备础参览预发试测范围优费经议轮图书们认谁约电邮词处态属级铁终库页档夹户线调负责满闭启闲队识脑键销钱"
    "岁旧迟须头绝编码稳热视频笔帮烦战胜倾"
)
_TO_SIMPLIFIED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)


def simplified(text: str) -> str:
    """For matching only; every character stands for one."""
    return text.translate(_TO_SIMPLIFIED)


_HYPOTHETICAL = verbose(
    r"如果|假如|要是|倘若|假设|万一|除非|的话|即使|哪怕|若是|一旦|是否|要不要|能不能|会不会|是不是|可不可以|好不好"
    r"|有没有|比如说?，?我|当我.*时|等我.*(?:后|再)|要不然?|本来想|本来打算|差点|恨不得|听说|据说"
)
_ASKS = verbose(
    r"^(?:为什么|怎么|如何|什么|哪|谁|多少|几时|何时|难道|能否|可否)|(?:什么|怎么样|怎么办|多少|哪里|哪个|谁)[。.!！]*$"
)
RETRACTED = verbose(r"^(?:我?(?:是)?(?:开玩笑|逗你|说着玩|闹着玩)的?|当我没说|算了|收回(?:刚才|上面)的话)")


def withheld(sentence: Sentence) -> bool:
    """A question, hypothesis or condition: nothing in it is stated."""
    masked = simplified(sentence.masked)
    return _HYPOTHETICAL.search(masked) is not None or _ASKS.search(masked) is not None


_LEAD_IN = verbose(
    r"(?:好的?|嗯+|哦|啊|哈哈|是的|对|对了|另外|还有|此外|顺便(?:说一下|提一下|说一句)?|其实|那么?|首先|然后|所以|不过"
    r"|但是?|而且|请注意|注意|说明一下|补充一下|补充|更新(?:一下)?|更正(?:一下)?|告诉你|跟你说(?:一下|个事)?"
    r"|你好|您好|谢谢|最后|最终|老实说|说实话|总之|今天|昨天|刚才|上周|这周|经过讨论|讨论之?后|商量之?后"
    r"|好消息)[，,：:、。!！\s]+"
    r"|(?:今天|昨天|刚才|上周|最后|最终|其实|不过|另外|经过讨论|讨论之?后|商量之?后)(?=我)"
)
_REMEMBER = verbose(
    r"(?:请)?(?:你)?(?:帮我)?(?:一定要?)?(?:记住|记下|记一下|记着|牢记|别忘了|不要忘了|请记得)[，,：:\s]*(?!了|的|吗|他|她"
    r"|那|去|要|买|带|当时)"
)


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


_CLAUSE = verbose(
    r"[，,；]\s?(?:另外|还有|而且|同时|并且|但是?|也)?(?=我们?(?:决定|最?喜欢|更喜欢|偏好|讨厌|学完|看完|读完|写完|做完"
    r"|完成了|的目标|主要|住在|叫|的名字|已经))"
)


def clauses(sentence: Sentence) -> Iterator[Sentence]:
    """Independent statements of one sentence."""
    begun = 0
    for joint in _CLAUSE.finditer(simplified(sentence.masked)):
        yield sentence.part(begun, joint.start())
        begun = joint.end()
    yield sentence.part(begun, len(sentence.text))
