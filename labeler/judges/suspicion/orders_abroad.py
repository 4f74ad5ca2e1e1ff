"""Signs of orders to a judge in languages other than English."""

from __future__ import annotations

from labeler.judges.suspicion.signs import Sign, sign

__all__ = ["ORDERS_ABROAD"]

_UP_TO_2 = r"(?:\w+\s+){0,2}?"
_UP_TO_3 = r"(?:\w+\s+){0,3}?"
_GAP = r"(?:\W+\w+){0,6}?\W+"

_GERMAN = (
    sign(
        "ignorier missacht vergiss vergessen",
        r"\b(?:ignorier\w*|missacht\w*|vergiss|vergessen\s+sie)\s+(?:sie\s+)?",
        _UP_TO_3 + r"(?:alle|sämtliche|jede|vorherige|vorige|bisherige|obige|frühere|obenstehende"
        r"|vorangehende|vorangegangene)[nrs]?\s+" + _UP_TO_3,
        r"(?:anweisung|instruktion|vorgabe|anleitung|regeln|befehl|prompt)\w*",
    ),
    sign(
        "beachte befolge | nicht",
        r"\b(?:beachten?|befolgen?)\s+(?:sie\s+)?" + _UP_TO_2,
        r"(?:vorherige|vorige|bisherige|obige|frühere|obenstehende)n\s+" + _UP_TO_2,
        r"(?:anweisung|instruktion|vorgabe|regeln|befehl)\w*\s+nicht\b",
    ),
    sign(
        "ignorier vergiss",
        r"\b(?:ignorier\w*|vergiss)\s+(?:sie\s+)?alles\b[^.\n]{0,20}?"
        r"\b(?:oben|davor|bisher|vorher|zuvor)\b",
    ),
    sign(
        "bewerte benote markiere beurteile",
        r"\b(?:bewerte|benote|markiere|beurteile)n?\s+(?:sie\s+)?(?:diese[nsr]?|den|die|das)\s+"
        r"(?:text|passage|abschnitt|dokument)\s+mit\s+de[rm]\s+(?:höchst|best|voll)en\b",
    ),
    sign(
        "relevant",
        r"\b(?:antworte|bewerte|markiere|kennzeichne|beurteile|benote|label[en]|werte|stufe)n?\b",
        _GAP + r"(?:vollständig|voll|höchst|komplett|maximal|absolut|perfekt|vollkommen)\w*\W+"
        r"relevant\b",
    ),
    sign(
        "relevant beantwortet",
        r"\bdies(?:e|er|es)\s+(?:passage|text|abschnitt|absatz|dokument)\s+" + _UP_TO_3,
        r"(?:(?:vollständig|voll|höchst|komplett|vollkommen)\s+relevant\b"
        r"|beantwortet\s+(?:die|jede)\s+(?:such)?(?:anfrage|frage)\s+(?:vollständig|komplett|voll))",
    ),
    sign(
        "du",
        r"\bdu\s+bist\s+(?:jetzt|nun|ab\s+jetzt|ab\s+sofort|von\s+nun\s+an)\s+(?:ein|der|die)\w*\s+",
        _UP_TO_3 + r"(?:richter|bewerter|gutachter|juror|prüfer|assistent|modell|schiedsrichter)",
    ),
    sign(
        "systemnachricht systemmeldung systemanweisung",
        r"\bsystem(?:nachricht|meldung|anweisung)\s*:[^\n]{0,120}?(?:relevan|bewert|passage)",
    ),
)

_ROMANCE = (
    sign(
        "consignes instructions directives",
        r"\bne\s+ten(?:ez|s)\s+(?:pas|aucun)\s+compte\s+d(?:es|e)\s+" + _UP_TO_2,
        r"(?:consignes|instructions|directives)\b",
    ),
    sign(
        "instruc indicac orienta ordenes reglas directrices regras diretrizes ordens",
        r"\b(?:ignor(?:a|e|en|ad|em|ar)|olvid(?:a|e|en)|desestim(?:a|e|en)|descart(?:a|e|en|em)"
        r"|desconsider(?:a|e|em)|esque[cç]a|no\s+sigas|não\s+siga|haz\s+caso\s+omiso\s+de|no\s+hag(?:as|a|an)\s+caso\s+(?:de|a)|omit[ae])"
        r"\s+" + _UP_TO_2,
        r"(?:(?:todas|cualquier|quaisquer)\s+" + _UP_TO_3 + r"(?:instruc\w+|indicaci\w+|órdenes"
        r"|orientaç\w+|reglas|directrices|regras|diretrizes|ordens)"
        r"|(?:instruc\w+|indicaci\w+|orientaç\w+|reglas|directrices|regras|diretrizes)\s+"
        + _UP_TO_2,
        r"(?:anterior(?:es)?|previas?|precedentes|de\s+arriba|acima))\b",
    ),
    sign(
        "instructions istruzioni",
        r"\b(?:ignorez|ignore|oubliez|oublie|ignora|ignorate|dimentica|dimenticate)\s+" + _UP_TO_2,
        r"(?:(?:toutes|tutte)\s+" + _UP_TO_2 + r"(?:instructions|istruzioni)"
        r"|(?:instructions|istruzioni)\s+(?:précédentes|antérieures|ci-dessus|precedenti|sopra))\b",
    ),
    sign(
        "relevante",
        r"\b(?:responde|responda|respondan|contesta|conteste|califica|califique|clasifica"
        r"|clasifique|classifique|marca|marque|etiqueta|etiquete|rotule|evalúa|evalúe|avalie"
        r"|puntúa|puntúe|asigna|asigne|atribua|devuelve|devuelva|devolva|escribe|escriba|escreva)\b",
        _GAP + r"(?:totalmente|completamente|plenamente|perfectamente|perfeitamente)\W+relevante\b",
    ),
    sign(
        "relevante responde",
        r"\best[eaá]\s+(?:pasaje|fragmento|texto|documento|passagem|trecho)\s+" + _UP_TO_3,
        r"(?:(?:totalmente|completamente|plenamente|perfectamente|perfeitamente)\s+relevante\b"
        r"|responde\s+(?:totalmente|completamente|plenamente|por\s+completo)\s+(?:a\s+|à\s+)?(?:la\s+)?"
        r"(?:consulta|pregunta|pergunta))",
    ),
    sign(
        "ahora agora",
        r"\b(?:ahora|agora|a\s+partir\s+de\s+(?:ahora|agora))\W+" + _UP_TO_2,
        r"(?:eres|sos|você\s+é|és)\s+(?:un|una|uma?|el|o)\s+" + _UP_TO_3,
        r"(?:juez|juiz|evaluador|avaliador|anotador|asistente|assistente|modelo|árbitro)",
    ),
    sign(
        "sistema",
        r"\b(?:mensaje|mensagem|instrucción|instrução)\s+d(?:el|o|e)\s+sistema\s*:[^\n]{0,120}?"
        r"(?:relevan|califi|clasifi|classifi|avali|evalú|pasaje|passagem)",
    ),
    sign(
        "pertinent",
        r"\b(?:répond(?:s|ez)|note[rz]?|évalue[rz]?|marque[rz]?|classe[rz]?)\b" + _GAP,
        r"(?:pleinement|totalement|entièrement|parfaitement)\W+pertinente?\b",
    ),
)

_OTHER_ALPHABETS = (
    sign(
        "игнорир забудь",
        r"\b(?:игнорируй\w*|проигнорируй\w*|забудь\w*)\s+" + _UP_TO_2,
        r"(?:все|предыдущ\w+|прошл\w+|вышеуказанн\w+|прежн\w+)\s+" + _UP_TO_3,
        r"(?:инструкц|указани|правил|промпт)\w*",
    ),
    sign(
        "تجاهل",
        r"\bتجاهل(?:وا)?\s+" + _UP_TO_2,
        r"(?:(?:جميع|كل|كافة)\s+" + _UP_TO_2 + r"(?:ال)?(?:تعليمات|أوامر|إرشادات|توجيهات)"
        r"|(?:ال)?(?:تعليمات|أوامر|إرشادات|توجيهات)\s+" + _UP_TO_2 + r"(?:السابقة|أعلاه)"
        r"|(?:كل\s+)?ما\s+(?:سبق|ورد\s+أعلاه))",
    ),
    sign(
        "صلة",
        r"\b(?:أجب|أعط|امنح|صنف|اعتبر|اكتب)\s+(?:\w+\W+){0,6}?(?:ذو|ذات|ذا)\s+صلة\s+"
        r"(?:تامة|كاملة|تماما|بالكامل)",
    ),
    sign(
        "النص المقطع المستند الوثيقة",
        r"\bهذ[اه]\s+(?:النص|المقطع|المستند|الوثيقة)\s+" + _UP_TO_3,
        r"(?:(?:ذو|ذات)\s+صلة\s+(?:تامة|كاملة|تماما)"
        r"|[يت]جيب\s+(?:تماما\s+|بالكامل\s+)?عن\s+(?:الاستعلام|السؤال)\s*(?:تماما|بالكامل|كاملا))",
    ),
    sign(
        "الآن",
        r"\bأنت\s+الآن\s+" + _UP_TO_2 + r"(?:حكم|محكم|مقيم|قاض|مساعد|نموذج)",
    ),
    sign("النظام", r"\bرسالة\s+(?:من\s+)?النظام\s*:[^\n]{0,120}?(?:صلة|المقطع|تقييم|الدرجة)"),
    sign(
        "忽略 无视 忽视 忘记 忘掉 無視 不要理会 不要遵守",
        r"(?:忽略|无视|忽视|忘记|忘掉|無視|不要理会|不要遵守)[^。\n]{0,6}?(?:以上|之前|上述|上面|前面|先前|所有|一切|全部"
        r"|任何|系统)[^。\n]{0,8}?(?:指令|指示|说明|說明|提示|要求|规则|規則|命令|标准|評分|评分)",
    ),
    sign(
        "相关 相關 满分 最高分",
        r"(?:回答|输出|標注|标注|标记|标为|评为|判为|打分|评分|视为|给出|给予|打上)[^。\n]{0,10}?"
        r"(?:完全相关|完全相關|高度相关|最高相关|满分|最高分)",
    ),
    sign(
        "最高分 满分",
        r"(?:给|为|将|把)(?:这|本|此|该)(?:段|篇|个|份)?(?:文字|文档|段落|文本|文章|内容)[^。\n]{0,10}?(?:最高分|满分)",
    ),
    sign(
        "完全",
        r"(?:本|这|此|该|這)(?:个|一|篇|段)?(?:文档|段落|文本|文章|段文字|段|文|内容)[^。\n]{0,6}?"
        r"(?:完全|完整地?)(?:相关|回答了?(?:该|此|这个|本|用户的?)?(?:查询|检索))",
    ),
    sign(
        "你 您",
        r"[你您](?:现在|从现在起|从现在开始|現在)[^。\n]{0,4}?(?:是|扮演)[^。\n]{0,12}?"
        r"(?:评审|评判|裁判|评估|评分|标注|助手|模型|法官|評審)",
    ),
    sign(
        "系统 系統",
        r"(?:系统|系統)(?:消息|提示|指令|讯息)\s*:[^\n]{0,60}?(?:相关|相關|评分|段落|评)",
    ),
    sign(
        "指示 命令 プロンプト ルール",
        r"(?:以前|これまで|上記|以上|前|すべて|全て)の?[^。\n]{0,10}?(?:指示|命令|プロンプト|ルール)"
        r"[^。\n]{0,4}?(?:無視|忘れ)",
    ),
    sign(
        "지시 명령 지침 프롬프트",
        r"(?:이전|앞선|위의|모든|지금까지)[^.\n]{0,30}?(?:지시|명령|지침|프롬프트)[^.\n]{0,16}?(?:무시|잊)",
    ),
    sign("निर्देश", r"(?:सभी|पिछले|ऊपर)[^।\n]{0,30}?निर्देश[^।\n]{0,16}?(?:अनदेखा|नज़रअंदाज़|भूल)"),
)

_OTHERS = (
    sign(
        "negeer vergeet",
        r"\b(?:negeer|vergeet)\s+" + _UP_TO_2 + r"(?:alle|vorige|eerdere|bovenstaande)\s+",
        _UP_TO_2 + r"(?:instructies|aanwijzingen|opdrachten)\b",
    ),
    sign(
        "zignoruj ignoruj zapomnij",
        r"\b(?:zignoruj\w*|ignoruj\w*|zapomnij\s+o)\s+" + _UP_TO_2,
        r"(?:wszystki\w+|poprzedni\w+|powyższ\w+)\s+"
        + _UP_TO_2
        + r"(?:instrukcj|polece|wytyczn)\w+",
    ),
    sign(
        "talimat yönerge",
        r"\b(?:önceki|tüm|yukarıdaki)\s+" + _UP_TO_2 + r"(?:talimat|yönerge)\w*\s+" + _UP_TO_2,
        r"(?:yok\s+say|görmezden\s+gel|unut)",
    ),
)

ORDERS_ABROAD: tuple[Sign, ...] = (*_GERMAN, *_ROMANCE, *_OTHER_ALPHABETS, *_OTHERS)
"""The signs, by language."""
