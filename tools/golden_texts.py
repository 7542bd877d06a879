"""The texts of the model's golden files: own writing, chosen to differ in script, length, case, spacing and subject."""

SENTENCES = [
    "Hi",
    "no",
    "Postgres",
    "The cat sat on the mat.",
    "A cat was sitting on a mat.",
    "Quarterly revenue fell by 12.5% after the merger.",
    "How do I undo the last commit without losing my changes?",
    "Use git reset --soft HEAD~1 to take back the last commit and keep the work.",
    "We decided to store sessions in SQLite because a second daemon was too much to run.",
    "Never call the billing API from a background thread: it deadlocks on the token cache.",
    "what did we say about rate limits last week",
    "Remember: the staging database is wiped every Sunday at 03:00 UTC.",
    "Bowerbirds build an arbour of twigs and lay out blue things in front of it.",
    "The quick brown fox jumps over the lazy dog",
    "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG",
    "Who wrote the parser, and why does it allocate for every comment?",
    "Errors are returned, never logged and swallowed.",
    "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer",
    "fn main() { println!(\"{}\", args().count()); }",
    "def mean(xs): return sum(xs) / len(xs) if xs else float('nan')",
    "SELECT id, name FROM items WHERE deleted_at IS NULL ORDER BY created_at DESC LIMIT 20;",
    "for (let i = 0; i < rows.length; i++) { total += rows[i].amount ?? 0; }",
    "std::vector<std::unique_ptr<Node>> children; // owned",
    "impl<T: Ord + Clone> Heap<T> { pub fn pop(&mut self) -> Option<T> { self.rows.pop() } }",
    "curl -fsSL https://example.org/install.sh | sh -s -- --prefix=\"$HOME/.local\"",
    "https://example.com/a/b_c-d?x=1&y=%20two#frag",
    "user.name+tag@sub.example.co.uk wrote on 2024-02-29T23:59:60Z",
    "/usr/local/lib/python3.11/site-packages/numpy/core/_multiarray_umath.so",
    "C:\\Users\\Public\\Documents\\report (final) v2.docx",
    "thread 'main' panicked at src/engine.rs:412:9: index out of bounds: the len is 3 but the index is 7",
    "{\"id\": 17, \"tags\": [\"a\", \"b\"], \"ok\": true, \"ratio\": -1.5e-7}",
    "SHA-256 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "snake_case_name camelCaseName PascalCaseName SCREAMING_SNAKE kebab-case-name",
    "x = (-b ± √(b² − 4ac)) / 2a",
    "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε",
    "O(n log n) comparisons, 3×10⁸ m/s, 25 °C, ½ cup, ™ © ® № ℃ Ω",
    "Le café est fermé le dimanche, mais l'épicerie d'à côté reste ouverte jusqu'à minuit.",
    "Das Straßenfest fällt wegen des Regens aus; wir treffen uns um halb fünf im Rathaus.",
    "El perro de San Roque no tiene rabo porque Ramón Ramírez se lo ha cortado.",
    "A reunião foi adiada para amanhã às nove horas da manhã.",
    "Il treno per Bologna è in ritardo di venti minuti.",
    "De kat krabt de krullen van de trap.",
    "Zażółć gęślą jaźń, powiedział Łukasz.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Árvíztűrő tükörfúrógép.",
    "İstanbul'da ığdır ve şişe; IŞIK ılık.",
    "Съешь ещё этих мягких французских булок, да выпей чаю.",
    "Щедра осінь прийшла до Києва, їжак спить.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΟΔΥΣΣΕΥΣ",
    "אין דבר העומד בפני הרצון.",
    "שָׁלוֹם עֲלֵיכֶם",
    "السلام عليكم ورحمة الله وبركاته، كيف حالكم اليوم؟",
    "این یک جملهٔ آزمایشی برای جست‌وجو است.",
    "हिन्दी में एक छोटा वाक्य लिखा गया है।",
    "আমার সোনার বাংলা, আমি তোমায় ভালোবাসি।",
    "தமிழ் ஒரு பழமையான மொழி.",
    "ภาษาไทยไม่มีการเว้นวรรคระหว่างคำ",
    "ສະບາຍດີ ຂ້ອຍຊື່ ສົມໃຈ",
    "မင်္ဂလာပါ ကမ္ဘာလောက",
    "ខ្ញុំរៀនភាសាខ្មែរ",
    "ქართული ენა ძალიან ლამაზია.",
    "Հայաստանը լեռնային երկիր է։",
    "ሰላም ለዓለም፣ እንዴት ነህ፧",
    "数据库迁移失败后,请先恢复备份,再重新运行索引。",
    "我們昨天決定把快取放在本機磁碟上。",
    "東京タワーの高さは333メートルです。",
    "ガギグゲゴ パピプペポ が ぱ ヴ ヷ ゟ ヿ",
    "データベースの移行に失敗したらどうすればよいですか？",
    "안녕하세요, 어제 회의에서 무엇을 결정했나요?",
    "각 힣 ㄱㅏㄱ",
    "Tiếng Việt có sáu thanh điệu: ngang, huyền, sắc, hỏi, ngã, nặng.",
    "Habari ya asubuhi, rafiki yangu.",
    "🙂",
    "Ship it 🚀🚀 before the 🌧️ — thanks 👩‍👩‍👧‍👦 & 🇳🇱!",
    "ok 👍🏽 / nope 👎🏿 / 1️⃣ 2️⃣ #️⃣ ⌘⇧P → ✓ ✗ ♥︎ ♥️",
    "ＦＵＬＬＷＩＤＴＨ　ｔｅｘｔ！？（１２３）",
    "ﬁne ﬂow oﬀer ĳs ŉ ǆ Ǆ ǅ ſ K Å",
    "𝕳𝖊𝖑𝖑𝖔 𝒲𝑜𝓇𝓁𝒹 𝟙𝟚𝟛 𐌰𐌱𐌲 𒀀𒁀 𓀀𓁀",
    "C++ C# F# .NET a/b don't it's rock'n'roll e.g. i.e. U.S.A. 3.14 1,000,000 50% $5.00 €9 £7 ¥100",
    "!!! ??? ... --- *** ### @@@ ~~~ ``` \"\"\" ''' ((( ))) [[[ ]]] {{{ }}} <<< >>> ||| \\\\\\",
    "“Curly” ‘quotes’ — en–dash … ellipsis ‹ › « » ¿qué? ¡sí! • · § ¶ † ‡",
    "[CLS] this is [MASK] text [SEP] with [UNK] and [PAD] in it [unused7]",
    "##ing ##s # # ##",
    "pneumonoultramicroscopicsilicovolcanoconiosis antidisestablishmentarianism",
    "tabs\tand\nnew\r\nlines   and    runs  of spaces ",
    "zero\u200bwidth\u200cjoiner\u200dbyte\ufeffmark soft\u00adhyphen nbsp\u00a0thin\u2009ideo\u3000end\u2028line\u2029para",
    "nul\x00 bell\x07 escape\x1b[31mred\x1b[0m del\x7f c1\x85\x9f vt\x0bff\x0c repl\ufffd private\ue000 \U000f0000",
    "\u202eright to left override\u202c and \u2066isolate\u2069",
    "Z\u0351\u036b\u0343a\u0328\u0329l\u0321g\u0322o\u0317 t\u0334e\u0335x\u0336t",
    "e\u0301 n\u0303 A\u030a o\u0308\u0304 \u0301alone q\u0307\u0323 q\u0323\u0307",
]

WORDS = """a about above account across act add after again against age agree air all almost along also always among amount
and animal answer any appear apply archive area argue arm around arrive article ask at attack author available away back
bad balance bank base battle be beat because become before begin behind believe below best better between beyond big bill
bird blue board body book border both bottom branch bread break bridge bring broken brother build burn business but buy
by cache call can capital carry case cause cell center century chain change channel character check child choose church
circle city claim class clear climb close cloud code coffee cold collection color come commit common company compare
compute concern condition connect consider contain context continue control copy corner cost could count country course
cover create cross crowd current cut daily damage data date day deal death decide deep default defend degree delay demand
depend describe design desk detail develop device die differ dinner direct discover discuss disk distance divide do doctor
document door doubt down draw dream drive drop dry during each early earth east easy eat edge effect egg either else empty
end engine enjoy enough enter equal error escape evening event ever every example except exist expect explain eye face
fact fail fall family far fast father fear field fight figure file fill final find fine finger finish fire first fish
floor flow follow food foot force forest forget form forward free friend from front full future game garden gate general
give glass go gold good govern graph great green ground group grow guess half hand happen hard hash have head hear heart
heavy help here high hill history hit hold home hope horse hospital hour house how hundred hurry idea if image important
in increase index inside instead into iron island issue item job join journey judge jump just keep kernel key kind king
kitchen know lake land language large last late laugh law lead learn leave left length less letter level library life
light like limit line list listen little live local lock long look lose lost love low machine main make man many map
market matter mean measure medicine meet memory merge message metal middle might mile milk million mind minute miss model
modern moment money month moon more morning most mother mountain mouth move much music must name nation nature near need
network never new next night noise north note nothing notice now number object ocean of off offer office often oil old on
once one only open order other our out over own page paint paper parent park parse part party pass past path pattern pay
peace people perhaps person phone picture piece place plain plan plant play point police poor port position possible post
pound power prepare present press price print prior private problem process produce program proof protect prove public
pull purpose push put quality query question queue quick quiet race rain raise random range rank rather reach read ready
real reason receive record red reduce region release remain remember remove repeat report request require rest result
return rice rich ride right ring rise river road rock role room root round rule run safe sail salt same sand save say
scale school science score sea search season second secret see seed seem segment sell send sense sentence separate serve
session set settle seven several shape share ship shore short should show sick side sign signal silence silver simple
since sing single sit size skill sleep slow small smile snow so social soft soil soldier some song soon sort sound source
south space speak special speed spend spring stage stand star start state station stay steel step still stone stop store
storm story straight strange street strong student study subject such sudden sugar suggest summer sun supply support sure
surface surprise sweet system table tail take talk task teach team tell temple ten term test than that the then there
thing think third thousand thread through throw time tiny to today together token tomorrow too top total touch toward
town trade train travel tree tribe trouble true trust try turn twelve two type uncle under understand union unit until up
use usual valley value vector very view village visit voice wait walk wall want war warm wash watch water wave way wear
weather week weight well west what wheel when where which while white who whole why wide wild will wind window winter wish
with woman wonder wood word work world worry would write wrong year yellow yes yesterday yet young zero""".split()
