"""Two hundred facts that changed, half in English and half in Chinese, each told twice in words of its own, and asked about once.

``python -m tests.retrieval.updates > updates.json`` writes them as a data set for ``manage.py evaluate retrieval``. All facts of one
language are in one world, so each question has the other four people of its own kind, and everybody else, as distractors.
"""

from __future__ import annotations

import json
import sys
from typing import Any

ENGLISH_PEOPLE = ("Mirela", "Tobias", "Anneke", "Jorunn", "Caspian")
CHINESE_PEOPLE = ("林小雨", "周建国", "陈思远", "何家欣", "马晓东")

# what was said, what was said later, what is asked; {who} is the person, {a} and {b} the values before and after
ENGLISH: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    ("{who} lives in {a} near the station.", "{who} has moved and lives in {b} now.", "Where does {who} live?",
     (("Bergen", "Tromso"), ("Leiden", "Utrecht"), ("Porto", "Faro"), ("Graz", "Linz"), ("Cork", "Galway"))),
    ("{who} works as a {a} at the harbour office.", "Since spring {who} works as a {b}.", "What does {who} work as?",
     (("clerk", "pilot"), ("welder", "teacher"), ("cook", "baker"), ("driver", "planner"), ("guard", "nurse"))),
    ("The car of {who} is a {a}.", "{who} sold the old car and drives a {b} today.", "Which car does {who} drive?",
     (("Fiat", "Volvo"), ("Skoda", "Tesla"), ("Opel", "Dacia"), ("Saab", "Mazda"), ("Ford", "Kia"))),
    ("{who} takes {a} in the coffee.", "{who} does not take that any more and drinks coffee with {b}.", "How does {who} take coffee?",
     (("sugar", "honey"), ("milk", "cinnamon"), ("cream", "oat milk"), ("syrup", "cardamom"), ("cocoa", "nothing"))),
    ("The weekly call with {who} is on {a}.", "From next month the weekly call with {who} is on {b}.", "When is the weekly call with {who}?",
     (("Monday", "Thursday"), ("Tuesday", "Friday"), ("Wednesday", "Monday"), ("Thursday", "Tuesday"), ("Friday", "Wednesday"))),
    ("{who} is learning {a} in the evening.", "{who} finished that course and is learning {b} now.", "Which language is {who} learning?",
     (("Finnish", "Welsh"), ("Danish", "Greek"), ("Polish", "Korean"), ("Turkish", "Latin"), ("Czech", "Irish"))),
    ("The favourite dish of {who} is {a}.", "These days the favourite dish of {who} is {b}.", "What is the favourite dish of {who}?",
     (("lasagne", "pho"), ("goulash", "ramen"), ("paella", "tacos"), ("risotto", "curry"), ("stew", "sushi"))),
    ("{who} plays the {a} in the band.", "{who} gave that up and plays the {b} in the band.", "Which instrument does {who} play?",
     (("cello", "banjo"), ("flute", "drums"), ("viola", "bass"), ("horn", "piano"), ("oboe", "harp"))),
    ("The doctor of {who} is Dr {a}.", "{who} changed the practice, the doctor is Dr {b}.", "Who is the doctor of {who}?",
     (("Amund", "Selin"), ("Bakker", "Okoye"), ("Castel", "Petrov"), ("Dietz", "Quinn"), ("Elster", "Rossi"))),
    ("{who} goes to the gym on {a} street.", "The gym of {who} closed; the new one is on {b} street.", "On which street is the gym of {who}?",
     (("Birch", "Mill"), ("Canal", "Church"), ("Dock", "Garden"), ("East", "North"), ("Ferry", "Queen"))),
    ("The phone of {who} runs {a}.", "{who} bought another phone, it runs {b}.", "What does the phone of {who} run?",
     (("Android", "GrapheneOS"), ("Sailfish", "Android"), ("LineageOS", "iOS"), ("iOS", "Sailfish"), ("KaiOS", "LineageOS"))),
    ("{who} reads {a} novels before sleeping.", "{who} had enough of them and reads {b} novels at night.", "Which novels does {who} read?",
     (("crime", "historical"), ("fantasy", "sea"), ("spy", "family"), ("western", "science"), ("horror", "travel"))),
    ("The flat of {who} costs {a} euros a month.", "The rent of {who} went up, the flat costs {b} euros.", "What does the flat of {who} cost?",
     (("710", "790"), ("820", "905"), ("930", "1010"), ("640", "705"), ("1050", "1190"))),
    ("{who} keeps the spare key under the {a}.", "{who} moved the spare key: it is behind the {b}.", "Where is the spare key of {who}?",
     (("mat", "meter"), ("pot", "lantern"), ("bench", "gutter"), ("stone", "mailbox"), ("bucket", "ladder"))),
    ("The dog of {who} eats {a} food.", "On the vet's advice the dog of {who} eats {b} food.", "What food does the dog of {who} eat?",
     (("dry", "grain free"), ("raw", "cooked"), ("tinned", "dry"), ("puppy", "senior"), ("beef", "lamb"))),
    ("{who} commutes by {a}.", "{who} gave the season ticket back and commutes by {b}.", "How does {who} commute?",
     (("bus", "bicycle"), ("train", "tram"), ("tram", "ferry"), ("ferry", "scooter"), ("metro", "train"))),
    ("The savings of {who} are at the {a} bank.", "{who} closed that account, the savings are at the {b} bank.", "Where are the savings of {who}?",
     (("Nordic", "Union"), ("Harbour", "Valley"), ("Castle", "Garden"), ("Coast", "Meadow"), ("Market", "Forest"))),
    ("{who} takes the {a} tablets for the allergy.", "The tablets did not help; {who} takes {b} for the allergy.", "What does {who} take for the allergy?",
     (("red", "drops"), ("white", "a spray"), ("small", "an ointment"), ("yellow", "a syrup"), ("round", "an injection"))),
    ("The project of {who} is called {a}.", "The project of {who} was renamed, its name is {b}.", "What is the project of {who} called?",
     (("Heron", "Kestrel"), ("Otter", "Marten"), ("Maple", "Willow"), ("Basalt", "Granite"), ("Comet", "Meteor"))),
    ("{who} celebrates the birthday with a party at {a}.", "This year {who} celebrates the birthday at {b}.", "Where does {who} celebrate the birthday?",
     (("home", "the beach"), ("the pub", "the lake"), ("the club", "a farm"), ("the office", "a boat"), ("the park", "a cabin"))),
)  # fmt: skip
CHINESE: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    ("{who}住在{a}，离地铁站很近。", "{who}搬家了，现在住在{b}。", "{who}住在哪里？",
     (("青岛", "厦门"), ("西安", "成都"), ("天津", "苏州"), ("武汉", "昆明"), ("沈阳", "珠海"))),
    ("{who}的职业是{a}。", "今年春天起，{who}的职业是{b}。", "{who}的职业是什么？",
     (("会计", "律师"), ("司机", "厨师"), ("护士", "教师"), ("编辑", "导游"), ("木匠", "园丁"))),
    ("{who}开一辆{a}上班。", "{who}把旧车卖了，如今开一辆{b}上班。", "{who}开什么车上班？",
     (("桑塔纳", "比亚迪"), ("卡罗拉", "蔚来"), ("捷达", "理想"), ("飞度", "小鹏"), ("朗逸", "极氪"))),
    ("{who}喝咖啡要加{a}。", "{who}戒掉了那种习惯，喝咖啡改加{b}。", "{who}喝咖啡加什么？",
     (("白糖", "蜂蜜"), ("牛奶", "肉桂"), ("奶油", "燕麦奶"), ("糖浆", "椰浆"), ("可可", "冰块"))),
    ("和{who}的例会在{a}。", "从下个月开始，和{who}的例会改到{b}。", "和{who}的例会在什么时候？",
     (("周一", "周四"), ("周二", "周五"), ("周三", "周一"), ("周四", "周二"), ("周五", "周三"))),
    ("{who}晚上在学{a}。", "{who}学完了那门课，晚上在学{b}。", "{who}晚上在学什么？",
     (("法语", "韩语"), ("德语", "日语"), ("俄语", "泰语"), ("西语", "粤语"), ("阿语", "越语"))),
    ("{who}最爱吃的菜是{a}。", "{who}最近口味变了，最爱吃的菜是{b}。", "{who}最爱吃的菜是什么？",
     (("红烧肉", "水煮鱼"), ("宫保鸡丁", "白切鸡"), ("回锅肉", "酸菜鱼"), ("糖醋排骨", "麻婆豆腐"), ("锅包肉", "剁椒鱼头"))),
    ("{who}在乐队里弹{a}。", "{who}不再弹那个，在乐队里改弹{b}。", "{who}在乐队里弹什么乐器？",
     (("吉他", "贝斯"), ("钢琴", "古筝"), ("琵琶", "电子琴"), ("扬琴", "尤克里里"), ("三弦", "柳琴"))),
    ("{who}的主治医生姓{a}。", "{who}换了医院，主治医生姓{b}。", "{who}的主治医生姓什么？",
     (("郑", "谢"), ("冯", "邓"), ("曹", "彭"), ("蒋", "潘"), ("沈", "董"))),
    ("{who}常去{a}的健身房。", "原来那家关门了，{who}现在去{b}的健身房。", "{who}去哪里的健身房？",
     (("东门", "西门"), ("南湖", "北苑"), ("桥头", "码头"), ("新村", "老街"), ("广场", "公园"))),
    ("{who}的手机用的是{a}系统。", "{who}买了新手机，用的是{b}系统。", "{who}的手机用什么系统？",
     (("安卓", "鸿蒙"), ("苹果", "安卓"), ("鸿蒙", "苹果"), ("澎湃", "鸿蒙"), ("原生", "澎湃"))),
    ("{who}睡前读{a}小说。", "{who}读腻了，睡前改读{b}小说。", "{who}睡前读什么小说？",
     (("武侠", "历史"), ("科幻", "悬疑"), ("言情", "推理"), ("玄幻", "军事"), ("恐怖", "游记"))),
    ("{who}的房租每月{a}元。", "房东涨价了，{who}的房租每月{b}元。", "{who}的房租每月多少元？",
     (("2100", "2350"), ("1800", "2050"), ("3200", "3600"), ("2700", "2950"), ("1500", "1720"))),
    ("{who}的备用钥匙放在{a}。", "{who}把备用钥匙挪了地方，放在{b}。", "{who}的备用钥匙放在哪里？",
     (("地垫下面", "电表后面"), ("花盆里", "灯笼里"), ("鞋柜上", "信箱里"), ("窗台上", "梯子旁"), ("车库里", "工具箱"))),
    ("{who}的猫吃{a}。", "听了兽医的话，{who}的猫改吃{b}。", "{who}的猫吃什么？",
     (("干粮", "湿粮"), ("鸡胸肉", "处方粮"), ("罐头", "冻干"), ("幼猫粮", "成猫粮"), ("鱼肉粮", "鸭肉粮"))),
    ("{who}坐{a}通勤。", "{who}退了月票，改坐{b}通勤。", "{who}坐什么通勤？",
     (("公交", "地铁"), ("地铁", "轻轨"), ("班车", "渡轮"), ("渡轮", "公交"), ("轻轨", "班车"))),
    ("{who}的存款在{a}银行。", "{who}销了户，存款转到了{b}银行。", "{who}的存款在哪家银行？",
     (("招商", "交通"), ("中信", "光大"), ("浦发", "民生"), ("兴业", "华夏"), ("平安", "广发"))),
    ("{who}过敏时吃{a}。", "那药不管用，{who}过敏时改用{b}。", "{who}过敏时用什么？",
     (("红药片", "滴剂"), ("白药片", "喷雾"), ("小药丸", "药膏"), ("黄胶囊", "糖浆剂"), ("冲剂", "针剂"))),
    ("{who}负责的项目叫{a}。", "{who}负责的项目改名了，叫{b}。", "{who}负责的项目叫什么？",
     (("苍鹭", "红隼"), ("水獭", "貂鼠"), ("枫树", "垂柳"), ("玄武岩", "花岗岩"), ("彗星", "流星"))),
    ("{who}过生日在{a}聚会。", "今年{who}过生日改在{b}聚会。", "{who}过生日在哪里聚会？",
     (("家里", "海边"), ("酒吧", "湖边"), ("会所", "农庄"), ("公司", "船上"), ("公园", "木屋"))),
)  # fmt: skip


def pairs() -> list[dict[str, str]]:
    """Every changed fact: language, what was said, what was said later, and the question."""
    return [
        {
            "language": language,
            "old": old.format(who=who, a=before, b=after),
            "new": new.format(who=who, a=before, b=after),
            "question": asked.format(who=who),
        }
        for language, facts, people in (("en", ENGLISH, ENGLISH_PEOPLE), ("zh", CHINESE, CHINESE_PEOPLE))
        for old, new, asked, values in facts
        for who, (before, after) in zip(people, values, strict=True)
    ]


def dataset(*, linked: bool = True) -> dict[str, Any]:
    """The form of apps.retrieval.evaluation.datasets; without ``linked`` nothing says that the later record replaces the other."""
    worlds = []
    for language in ("en", "zh"):
        records, questions = [], []
        for number, pair in enumerate(pair for pair in pairs() if pair["language"] == language):
            new = {"id": f"new{number}", "text": pair["new"], "at": f"2026-05-{number % 28 + 1:02}"}
            records.append({"id": f"old{number}", "text": pair["old"], "at": f"2026-01-{number % 28 + 1:02}"})
            records.append(new | ({"replaces": f"old{number}"} if linked else {}))
            questions.append(
                {"text": pair["question"], "relevant": [f"new{number}"], "stale": [f"old{number}"], "group": language}
            )
        worlds.append({"name": f"{'updates' if linked else 'unlinked'}-{language}", "records": records, "questions": questions})
    return {"worlds": worlds}


if __name__ == "__main__":
    json.dump(dataset(linked="--unlinked" not in sys.argv), sys.stdout, ensure_ascii=False, indent=1)
