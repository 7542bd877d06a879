//! Defines the limits and bars of admission.

/// The numbers of the gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Longer texts (characters) are documents. The largest evidence that a prompt is given by default has 2,048 tokens,
    /// some 8,000 characters: twice that could never be shown whole.
    pub most_chars: usize,
    /// The same in strict mode: ADE's cap on a memory's content.
    pub most_chars_strict: usize,
    /// A line with fewer words says nothing about the output beside it.
    pub least_saying_words: usize,
    /// Lines of output that one sentence may bring along. A screen has 24.
    pub most_quoted_lines: usize,
    /// Words in a run that is compared to find echoes. Broder's documents take ten; in a sentence of ten words three
    /// still leave eight runs.
    pub shingle: usize,
    /// The share of a sentence's words that must come from what was returned. With every word left over a small one,
    /// lower shares find nothing more in the golden tests; .7 would let one of three words in a short sentence be new.
    pub least_echo: f32,
    /// Shorter values that no word announces may be ids: 192 bits, the least of the published forms, are 32 in base64.
    pub least_bare: usize,
    /// With fewer different words of its own left, small ones aside, a text was there for its secrets.
    pub least_left: usize,
    /// Below this likelihood that a text is worth keeping, the model refuses it. Of texts by authors that it was not fitted to,
    /// 42 of 117 that are junk pass, and 4 of 828 that are worth keeping are refused. A lost memory costs more than junk.
    pub least_worth: f32,
    /// The same in strict mode, where 26 of the 117 pass and 9 of the 828 are refused.
    pub least_worth_strict: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            most_chars: 16_000,
            most_chars_strict: 2_000,
            least_saying_words: 4,
            most_quoted_lines: 24,
            shingle: 3,
            least_echo: 0.8,
            least_bare: 32,
            least_left: 4,
            least_worth: 0.1,
            least_worth_strict: 0.5,
        }
    }
}
