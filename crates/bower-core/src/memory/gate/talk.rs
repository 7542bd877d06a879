//! Recognises small talk that only keeps a conversation going: thanks, offers, questions to the reader.
//! English; what people say to each other in a transcript (`Anna: ...`) is judged more mildly than what an agent says.

use super::Constants;
use super::agent::begins;
use super::list::List;
use super::step::{DOES, is_step};
use crate::memory::cues::Cues;

/// What is said to keep a conversation going.
static TALK: List = List::of(
    "good catch|great catch|good question|great question|good point|great point|good idea|great idea|\
     good work|great work|nice work|great job|fair enough|never mind|my mistake|my pleasure|my apologies|\
     right away|sounds right|take your time|no rush|you bet|you got it|happy to help|glad to help|\
     here we go|here you go|there you go|what's next|what next|moving on|that's right|that's correct|\
     that's fine|that's great|that's all|that should do it|that worked|it worked|you're all set|\
     you are all set|all right|as discussed|as requested|as you wish|yes please|no thanks|\
     hope that helps|hope this helps|i hope this helps|i hope that helps|i can do that|i can help|\
     i'm ready|i am ready|i'm on it|are you there|hold on|hang on|stand by|standing by|bear with me|\
     copy that|roger that|does that make sense|does this make sense|makes total sense|\
     i'll keep that in mind|i will keep that in mind|i'll remember that|i will remember that|\
     will keep that in mind|i'll proceed|i will proceed|i'll continue|i will continue|i'll wait|\
     for letting me know|for confirming|for clarifying|for waiting|for your patience|\
     for the clarification|for the confirmation|for the update|for the feedback|for the heads-up|\
     for the info|for the confusion|for the mistake|for the delay|for the error|for the inconvenience|\
     about that|i apologize|i apologise|apologies|try again|try that again|try it again|once more|\
     one more time|do it again|go back|undo that|i'll be right back|be right back|right back|found it|\
     there it is|not yet|true|wait|stop|any update|any updates|any news|any progress|almost there|\
     nearly there|that didn't work|it didn't work|didn't work|that works now|it works now|let's go|\
     let's see|let's see what happens|fair point|hello again|what do you think|not sure yet|lmao|rofl|\
     hehe|nah|meh|ugh|oof|hm|huh|aha|weird|funny|brb|afk|interesting|roger|kk|yay|hooray|fantastic|\
     wonderful|brilliant|superb|gotcha|definitely|certainly|indeed|correct|ping|pong|you are welcome|\
     you're welcome|no problem|no worries|sounds good|sounds great|looks good to me|looks good|\
     looks great|good morning|good evening|good night|good afternoon|good job|well done|got it|of course|\
     will do|on it|go ahead|go on|all good|all set|all done|that's it|that works|works for me|thank you|\
     one moment|one sec|one second|give me a moment|just a moment|makes sense|i see|i understand|\
     you are right|you're right|you're absolutely right|my bad|see you later|see you soon|see you|see ya|\
     take care|talk to you later|talk later|bye for now|keep going|working on it|how are you|\
     how can i help|how can i help you|what's up|anything else|is there anything else|let me know|\
     i'm done|i am done|it's done|it is done|please continue|same here|you too|have a nice day|\
     have a great day|ok|okay|k|yes|yeah|yep|yup|no|nope|sure|thanks|thx|ty|great|cool|nice|perfect|\
     awesome|excellent|amazing|wow|done|hi|hello|hey|bye|goodbye|understood|noted|agreed|exactly|\
     absolutely|totally|alright|right|fine|sorry|oops|lol|haha|hmm|welcome|continue|proceed|acknowledged|\
     ack|lgtm|ttyl|cheers|congrats|congratulations|that didn't work|that did not work|this didn't work|\
    still not working|still doesn't work",
);

/// The most words of one of them.
const LONGEST_TALK: usize = 6;

/// How many of the words are talk, at their beginning.
fn talk(words: &[&str]) -> Option<usize> {
    (1..=words.len().min(LONGEST_TALK)).rev().find(|length| TALK.has(&words[..*length].join(" ")))
}

/// What may stand around it.
static FILLERS: List = List::of(
    "in|by|right|away|earlier|today|here|there|have|at|what|thing|once|more|one|lot|how|assist|with|be|\
     of|if|any|further|else|so|very|much|really|a|again|for|that|the|it|now|then|all|you|everyone|guys|\
     please|well|oh|ah|just|too|and|to|your|help|this|i|me|man|buddy",
);

/// What an agent announces instead of telling.
const ANNOUNCEMENTS: &str = "now i understand|i've updated the file|i have updated the file|i've made the changes|\
    i have made the changes|the user said hello|the user said hi|user said hello|the user thanked|\
    user thanked|let me implement|let me check|let me look|let me see|let me take a look|let me read|\
    let me run|let me try|let me find|let me search|let me think|let me start by|let me fix|\
    let me verify|let me know if|let me first|let me now|now let me|now i'll check|now i'll run|\
    now i'll fix|now i'll implement|now i'll create|now i'll update|i'll check|i will check|\
    i'll take a look|i'll look into|i will look into|i'll start by|i'll now|i will now|i'll get started|\
    i'll investigate|i'll go ahead and|checking|looking into|searching for|reading the file|\
    running the tests|would you like me to|do you want me to|shall i|should i continue|\
    is there anything else|how can i help|can you please|i've updated the files|\
    i have updated the files|reading the files|the file has been updated successfully|\
    the file has been created successfully|the file was updated successfully|here's the result of running|\
    here is the result of running|trying something else|trying another way|trying a different approach|\
    let's try something else";

/// Questions and offers that keep a conversation going; what is asked about does not matter.
const OFFERS: &str = "see you tomorrow|let me know|just let me know|please let me know|feel free to|don't hesitate to|want me to|\
    do you want|would you like|what if we|what if i|maybe we should|maybe i should|i wonder|\
    i'm not sure|not sure|would you prefer|should i|shall i|shall we|may i|can i help|can i proceed|\
    can i go|could you send|could you share|could you clarify|could you confirm|could you provide|\
    could you tell me which|can you share|can you try|could you try|can you clarify|can you confirm|\
    can you provide|can you send me the|please confirm|please clarify|please provide|please wait|\
    please share the|please hold|please stand by|which option|which one would|what would you like|\
    what should i|where should i|how should i|how would you like|how can i assist|how may i|\
    ready when you are|is that ok|is that okay|is this ok|does that work|does that sound|does this look|\
    any other questions|anything else|i'd be happy to|i'd be delighted to|i'd be glad to|\
    i'd love to help|i would be happy to|i'm happy to help|i am happy to help|i'm here to help|\
    i am here to help|happy to help|glad i could help|give me a|i'll get back to you|i'll let you know|\
    i will let you know|i'll wait for|i will wait for|i apologize for|i apologise for|sorry for the|\
    apologies for the|thanks for confirming|thanks for clarifying|thanks for your|thank you for your|\
    thank you for confirming|thank you for the clarification";

/// Whether a short text is only said to keep a conversation going.
///
/// One name may stand in it (`Thanks, Anna!`), and `Anna:` before it: who thanked whom is no memory either.
pub(super) fn is_chatter(text: &str, cues: &Cues, constants: &Constants) -> bool {
    if !text.contains(char::is_alphanumeric) {
        return true;
    }
    if cues.words() > constants.most_chatter_words || text.trim_start().starts_with('#') {
        return false;
    }
    let body = without_speaker(text.trim());
    let cues = Cues::of(body);
    let sentences = || cues.plain().split(" . ").map(str::trim).filter(|sentence| !sentence.is_empty());
    // What people say to each other in a transcript may be kept, what an agent asks its user may not.
    let is_own = body.len() == text.trim().len();
    sentences().count() > 0
        && sentences().all(|sentence| is_announced(sentence, is_own) || is_talk(sentence, body))
}

/// What an agent is about to do, or offers to. `Let me check: the port is 8080` tells what was found.
fn is_announced(sentence: &str, may_offer: bool) -> bool {
    let words: Vec<&str> = sentence.split(' ').collect();
    let tells = words.iter().any(|word| matches!(*word, ":" | "because" | "since"));
    !tells
        && !(1..words.len()).any(|at| is_own_clause(&words[at..]))
        && (begins(&words, ANNOUNCEMENTS) || (may_offer && begins(&words, OFFERS)))
}

/// `, I rarely read chat`: a clause of somebody's behind a comma.
fn is_own_clause(words: &[&str]) -> bool {
    matches!(words, ["," | "that", "i" | "we" | "he" | "she" | "they" | "it" | "i'm" | "the" | "is" | "are", next, ..] if *next != "will")
        || words.first().is_some_and(|word| DOES.has(word))
}

/// Whether a sentence is made of talk, with one name at most.
fn is_talk(sentence: &str, body: &str) -> bool {
    let words: Vec<&str> = sentence.split(' ').filter(|word| !matches!(*word, "." | "," | ":")).collect();
    let mut at = 0;
    let mut said = 0;
    let mut strange = Vec::new();
    while at < words.len() {
        if let Some(length) = talk(&words[at..]) {
            said += 1;
            at += length;
        } else {
            if !FILLERS.has(words[at]) {
                strange.push(words[at]);
            }
            at += 1;
        }
    }
    let is_name = |word: &str| {
        body.split(|c: char| !c.is_alphanumeric()).any(|shown| {
            shown.starts_with(char::is_uppercase)
                && shown.contains(char::is_lowercase)
                && shown.to_lowercase() == word
        })
    };
    // `Decision: yes` answers something.
    let may_name = strange.len() == 1 && said * 5 >= words.len() && !sentence.contains(" : ");
    said > 0 && (strange.is_empty() || (may_name && is_name(strange[0])))
}

/// The text behind `Anna:` or `Anna Meier:`.
fn without_speaker(text: &str) -> &str {
    let Some((label, rest)) = text.split_once(": ") else { return text };
    let is_name = label.split(' ').count() <= 2
        && label
            .split(' ')
            .all(|word| word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphanumeric));
    // `Decision: yes` is no speaker; a name in capitals is a mark (`TODO: ...`).
    let is_mark = !label.contains(char::is_lowercase)
        || matches!(label, "Decision" | "Default" | "Answer" | "Status" | "Result" | "Note");
    if is_name && !is_mark { rest } else { text }
}

/// Whether a text is a question to whoever reads along: it may be answered some day, but tells nothing.
fn is_question(words: &[&str], text: &str) -> bool {
    const MOST: usize = 16;
    let (first, second) = (words.first().copied().unwrap_or(""), words.get(1).copied().unwrap_or(""));
    let is_asked = match first {
        "what" | "when" | "why" | "where" | "how" => {
            matches!(second, "did" | "should" | "are" | "would" | "were")
        }
        "which" => matches!(second, "of" | "one" | "option"),
        "can" => matches!(second, "i" | "you"),
        "may" => second == "i",
        "could" | "would" | "will" => second == "you",
        "did" | "have" | "are" | "shall" | "should" | "were" | "do" => matches!(second, "we" | "i" | "you"),
        _ => false,
    };
    let own = ["i", "we", "you", "me", "us"];
    is_asked
        && text.trim_end().ends_with('?')
        && text.matches(['.', '!', '\n', ':']).count() == 0
        && without_speaker(text.trim()).len() == text.trim().len()
        && words.len() <= MOST
        && words.iter().any(|word| own.contains(word))
}

/// What talk is made of. A sentence of nothing else names nothing that could be remembered.
static SMALL_TALK: List = List::of(
    "a|about|absolutely|actually|again|ah|ahead|all|alright|always|am|an|and|any|anything|anytime|\
     appreciate|appreciated|are|as|at|away|awesome|back|be|been|best|better|bit|both|bunch|but|by|bye|\
     can|care|carry|catch|cheers|clear|come|continue|cool|could|course|day|did|do|does|doing|done|don't|\
     else|enough|everything|exactly|excellent|fair|fantastic|far|feel|fine|first|for|forward|free|from|\
     get|getting|give|glad|go|going|good|got|great|guess|guys|had|happy|hard|has|have|hear|hello|help|\
     helped|helpful|helps|here|hey|hi|him|hmm|hold|hope|how|i|i'd|i'll|i'm|i've|idea|if|impressive|in|\
     indeed|is|isn't|it|it'll|it's|its|job|just|keep|kind|know|let|let's|like|likewise|little|long|look|\
     looking|looks|lot|love|lovely|luck|make|makes|many|matter|maybe|me|mean|mind|moment|more|much|my|\
     need|neat|never|news|next|nice|no|not|nothing|now|of|off|oh|ok|okay|on|one|or|other|our|out|over|\
     perfect|perfectly|plan|please|pleased|pleasure|point|possible|pretty|problem|quite|ready|really|\
     right|roger|same|say|second|see|seems|sense|ship|should|so|some|something|soon|sorry|sort|sound|\
     sounds|spot|still|stuff|super|sure|take|talk|terrific|than|thank|thanks|that|that'll|that's|the|\
     them|then|there|there's|these|they|thing|things|think|this|though|time|to|too|totally|true|try|\
     understand|understood|up|us|very|wait|want|was|way|we|we'll|we're|welcome|well|what|what's|when|\
     whenever|will|with|wonderful|won't|work|worked|works|worries|worry|would|wow|yeah|yep|yes|yet|you|\
     you'll|you're|your|yours|yup|goes|nope|exact|smooth|smoothly|amazing|brilliant|huge|heads|stay|\
     tuned|later|today|tomorrow|tonight|weekend|evening|night",
);

/// Words that make such a sentence talk rather than a riddle.
static CIVIL: List = List::of(
    "thanks|thank|great|good|nice|awesome|perfect|cool|fine|sure|ok|okay|yes|no|yeah|yep|yup|nope|glad|\
     happy|welcome|sorry|please|sounds|looks|makes|help|helps|helped|appreciate|appreciated|right|\
     alright|understood|exactly|absolutely|ready|hello|hi|hey|bye|cheers|wow|wonderful|excellent|\
     fantastic|problem|worries|love|hope|carry|go|sense|luck|done|hmm|oh|ah|indeed|super|brilliant|\
     amazing|neat|lovely|terrific|clear|agreed",
);

/// Whether a sentence is made of talk alone, however it is put together. What people say to each other in a transcript may
/// be kept.
fn is_small_talk(words: &[&str], text: &str) -> bool {
    const MOST: usize = 10;
    let count = words.iter().filter(|word| !matches!(**word, "," | ":")).count();
    (2..=MOST).contains(&count)
        && without_speaker(text.trim()).len() == text.trim().len()
        && words.iter().all(|word| matches!(*word, "," | ":") || SMALL_TALK.has(word))
        && words.iter().any(|word| CIVIL.has(word))
}

/// `The user said thanks and left`.
fn reports_talk(words: &[&str]) -> bool {
    let (["the", "user", rest @ ..] | ["user" | "they", rest @ ..]) = words else {
        return false;
    };
    let ["said" | "says" | "replied" | "answered" | "typed" | "wrote" | "just", rest @ ..] = rest else {
        return false;
    };
    rest.len() <= 6 && talk(rest).is_some()
}

/// What follows the talk that a sentence begins with: `Awesome, let's continue`, `one moment please I will close it`.
fn behind_talk<'a, 'b>(words: &'a [&'b str]) -> Option<&'a [&'b str]> {
    let mut rest = words;
    while let Some(longest) = talk(rest) {
        rest = &rest[longest..];
        while let [first, more @ ..] = rest
            && (matches!(*first, "," | ":" | "tomorrow")
                || (FILLERS.has(first) && !matches!(*first, "i" | "it" | "the" | "that" | "this" | "you")))
        {
            rest = more;
        }
    }
    let is_own = matches!(
        rest,
        [
            "i" | "i'm"
                | "i'll"
                | "i've"
                | "let"
                | "let's"
                | "we"
                | "we'll"
                | "i'd"
                | "running"
                | "reading"
                | "checking"
                | "looking",
            ..
        ]
    );
    (rest.len() < words.len() && is_own).then_some(rest)
}

/// Whether a sentence announces something behind the talk that it begins with.
pub(super) fn announces(words: &[&str]) -> bool {
    behind_talk(words).is_some_and(|rest| is_step(rest) || is_announced(&rest.join(" "), true))
}

/// Whether a sentence only keeps a conversation going, in whatever way.
pub(super) fn is_talking(words: &[&str], sentence: &str, text: &str, constants: &Constants) -> bool {
    reports_talk(words)
        || is_question(words, text)
        || is_small_talk(words, text)
        || (words.len() <= constants.most_talk_words
            && (is_announced(sentence, true) || is_talk(sentence, text)))
}
