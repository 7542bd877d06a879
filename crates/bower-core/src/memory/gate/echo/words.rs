//! Weights and classes of words by which an echo is detected.

use super::super::list::List;

/// What a word is worth to an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Small words come and go without a change of meaning.
    Small,
    /// Denies something.
    Denies,
    /// Says where something is known from, at the ends of a sentence; inside it says what all others do.
    Vouches,
    /// The same before a sentence only.
    Frames,
    /// All others.
    Says,
}

/// Words with which a writer says where it has a thing from. At the ends of a sentence they say nothing.
static VOUCH: List = List::of(
    "known|know|knew|knows|recall|recalled|recalling|recalls|remember|remembered|remembering|remembers|\
     memory|memories|noted|mentioned|said|says|told|stated|states|confirmed|confirm|confirms|earlier|\
     before|previously|according|per|far|again|already|notes|indeed|recap|reminder|fyi|learned|\
     established|stored|saved|retrieved|believe|aware|shows|show|found|seen|see|correct|verified|yes|\
     reads|recorded|logged|ive|im|me|from",
);

/// Words that may stand in such a lead-in besides, where a mark or a small word ends it.
static FRAME: List = List::of(
    "note|noting|context|knowledge|retrieving|retrieval|relevant|store|previous|past|mention|say|based|\
     basis|what|here|heres|search|searched|searching|result|results|finding|findings|facts|fact|\
     following|follows|below|above|existing|background|summary|summarize|summarise|remind|reminding|\
     document|documents|item|items|entry|entries|score|scores|confidence|hit|hits|confirming|information|\
     info|user|asked|answer|answers|record|records|shown|showing|bower|bowerbird|query|returned|returns|\
     return|tell|tells|given|give|gives|gave|list|listed|restate|restating|repeat|repeating|repeated|\
     look|looked|looking|checked|check|checking|kb|about|id|content|text|type|source|sources|worth|keep|\
     keeping|mind|reference|understanding|understand|verify|base|log|conversation|conversations|session|\
     sessions|brain|notebook|history|update|saying|point|points|key|takeaway|takeaways|top|match|matches|\
     us|these|those|had|been|just|when|if|let|lets|ok|okay|sure|clear|agent|assistant|brief|briefly|\
     quick|related|regarding|concerning|mentions|contains|includes|including|indicates|suggests|read|can|\
     could|would|should|will|may|get|got|current|latest|recent|recently|lately|today|useful|important|\
     save|saving|storing|write|writing|persist|find|came|back|out|up|how",
);

/// Verbs that make a statement of what stands before and behind them.
pub(super) static AUXILIARIES: List = List::of(
    "am|are|be|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will|would",
);

/// Words that go on with a sentence and begin no noun.
pub(super) static GOES_ON: List = List::of(
    "because|since|when|while|until|after|before|if|will|can|must|should|may|would|could|like|via|using|than|through",
);

/// Words that tell one of several things of a kind from the others.
pub(super) static PARTS: List = List::of(
    "staging|production|prod|dev|development|test|testing|qa|canary|preview|live|local|remote|internal|\
     external|public|private|primary|secondary|backup|old|new|former|previous|current|next|last|first|\
     second|third|main|other|left|right|upper|lower|north|south|east|west|max|min|maximum|minimum|\
     default|mobile|legacy|soft|hard|read|write|inbound|outbound|input|output|source|target|every|only|\
     some|most|few|half",
);

/// Words that end no statement: a piece that ends with one was cut off there.
pub(super) static LEADS_ON: List =
    List::of("a|an|and|because|by|from|if|into|no|of|or|our|since|than|the|their|to|when|while|with|without");

/// Words that end none behind one of those: "since it".
pub(super) static STANDS_IN: List = List::of("he|i|it|she|they|this|we|you");

/// `folded` is as the analysis gives it: lower case, without apostrophes.
pub(super) fn weight(folded: &str) -> Weight {
    match folded {
        "not" | "no" | "never" | "none" | "nobody" | "nothing" | "neither" | "nor" | "without" | "cannot"
        | "cant" | "dont" | "doesnt" | "didnt" | "isnt" | "arent" | "wasnt" | "werent" | "wont"
        | "wouldnt" | "shouldnt" | "couldnt" | "hasnt" | "havent" | "hadnt" | "mustnt" | "longer"
        | "except" | "unless" => Weight::Denies,
        "a" | "an" | "the" | "and" | "is" | "are" | "was" | "were" | "be" | "it" | "its" | "that"
        | "this" | "of" | "to" | "in" | "on" | "at" | "for" | "with" | "as" | "by" | "our" | "their"
        | "your" | "my" | "his" | "her" | "we" | "they" | "you" | "i" | "he" | "she" | "has" | "have"
        | "also" | "so" | "too" | "then" | "which" | "there" | "do" | "does" | "still" | "currently"
        | "now" | "indeed" | "really" | "s" => Weight::Small,
        other if VOUCH.has(other) => Weight::Vouches,
        other if FRAME.has(other) => Weight::Frames,
        _ => Weight::Says,
    }
}
