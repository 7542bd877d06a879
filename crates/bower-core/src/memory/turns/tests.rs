//! Tests of cutting turns into pieces, and of deciding which pieces are kept.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn cut(said: &str, expected: &[&str]) {
    let cut = pieces(said);
    let found: Vec<_> = (0..cut.pieces.len()).map(|at| cut.piece(at)).collect();
    assert_eq!(found, expected, "{said}");
}

const KEEP: [f32; 5] = [0.9, 0.0, 0.1, 0.0, 0.0];
const PART: [f32; 5] = [0.1, 0.8, 0.1, 0.0, 0.0];
const DROP: [f32; 5] = [0.1, 0.0, 0.9, 0.0, 0.0];
const FOREIGN: [f32; 5] = [0.1, 0.0, 0.0, 0.9, 0.0];
const ORDERS: [f32; 5] = [0.1, 0.0, 0.0, 0.0, 0.9];

#[track_caller]
fn pick(said: &str, classes: &[[f32; 5]], expected: &[&str]) {
    let cut = pieces(said);
    let odds: Vec<Odds> = classes.iter().map(|classes| Odds::of(*classes)).collect();
    assert_eq!(cut.pieces.len(), odds.len(), "{cut:?}");
    assert_eq!(picks(&cut, &odds, Voice::User), expected, "{said}");
}

#[test]
fn a_turn_is_cut_into_sentences_and_lines() {
    cut("We moved to Kiel. the cellar is dry!  ok?", &["We moved to Kiel.", "the cellar is dry!", "ok?"]);
    cut("no comma here\nthe second line", &["no comma here", "the second line"]);
    cut("Really?! Wait... what?. No", &["Really?!", "Wait...", "what?.", "No"]);
    cut("(It rained.) We stayed.", &["(It rained.)", "We stayed."]);
    cut("窓は北向きです。屋根は直しました！はい", &["窓は北向きです。", "屋根は直しました！", "はい"]);
    cut("घर बड़ा है। छत टपकती है।", &["घर बड़ा है।", "छत टपकती है।"]);
    cut("هل نبدأ؟ نعم", &["هل نبدأ؟", "نعم"]);
    cut("👍 ... --", &[]);
    cut("", &[]);
}

#[test]
fn a_full_stop_in_a_number_or_a_short_form_ends_nothing() {
    cut("The tram takes 5 min. from the mill.", &["The tram takes 5 min. from the mill."]);
    cut("It takes 5 min. Then walk.", &["It takes 5 min.", "Then walk."]);
    cut("Am 3. Mai kommt Dr. Ott, z.B. mit Rad.", &["Am 3. Mai kommt Dr. Ott, z.B. mit Rad."]);
    cut(
        "Ask Ilse, ext. 214, about 1.5 and v2.10 of it.",
        &["Ask Ilse, ext. 214, about 1.5 and v2.10 of it."],
    );
    cut("Read docs/a.md or x.org/?q=1 first.", &["Read docs/a.md or x.org/?q=1 first."]);
    cut("It listens on 5433. Nobody told me.", &["It listens on 5433.", "Nobody told me."]);
}

#[test]
fn items_of_a_list_stand_alone_and_wrapped_lines_go_together() {
    cut(
        "Rules:\n- sign the tags\n  * no force\n1. two reviews\n2. no rush",
        &["Rules:", "sign the tags", "no force", "two reviews", "no rush"],
    );
    cut(
        "The boat lies in the third dock from the gate because the first two\nare being repaired until May.\nGood.",
        &[
            "The boat lies in the third dock from the gate because the first two are being repaired until May.",
            "Good.",
        ],
    );
    cut("7. sınıf öğretmeniyim, şubat ayından beri.", &["7. sınıf öğretmeniyim, şubat ayından beri."]);
    let long = format!("It is {}.", "very ".repeat(300));
    cut(&long, &[]);
    let huge = format!("First.\n{}Last.", "<a> “ \" „\n".repeat(1 << 16));
    let cut = pieces(&huge);
    assert!(cut.text.len() <= (64 << 10) + 1 && cut.piece(0) == "First.", "{}", cut.text.len());
    assert_eq!(cut.piece(cut.pieces.len() - 1), "Last.");
    let many = (0..500).map(|n| format!("Line {n} is here.\n")).collect::<Vec<_>>().concat();
    let cut = pieces(&many);
    let ends = [0, cut.pieces.len() - 1].map(|at| cut.piece(at).into_owned());
    assert_eq!(
        (cut.pieces.len(), ends),
        (128, ["Line 0 is here.".to_owned(), "Line 499 is here.".to_owned()])
    );
}

#[test]
fn what_marks_show_to_be_quoted_is_no_piece() {
    cut("```\nwe use tabs\n```\nI use spaces.", &["I use spaces."]);
    cut("~~~\n```\nwe use tabs\n~~~\nI use spaces.", &["I use spaces."]);
    cut("> we use tabs\n| a | b |\n# Tabs\n    let tabs = 1;\nI use spaces.", &["I use spaces."]);
    cut("<mail>\nwe use tabs\n</mail>\nI use spaces.", &["I use spaces."]);
    cut("<b>bold</b> words and a < b stay", &["<b>bold</b> words and a < b stay"]);
    cut("## Relevant Knowledge\n\n### Document 1: a\n\nThe API port is 9090.\n", &[]);
    cut("the page says \"We close on Sundays.\" but we open", &["the page says", "but we open"]);
    cut("« On ferme le lundi, toute la journée » dit-il. Pas nous.", &["dit-il.", "Pas nous."]);
    cut("Er schrieb: „Ich komme. Bring Brot.“\nIch komme nicht.", &["Er schrieb:", "Ich komme nicht."]);
    cut("店長:「月曜は休みです。」うちは火曜です", &["店長:", "うちは火曜です"]);
    cut("\"He left for good.\" . he came back, though", &["he came back, though"]);
    cut("\"We close early.\nAnd late.\"\n\nNot us.", &["Not us."]);
}

#[test]
fn a_name_between_quotation_marks_stays_in_its_sentence() {
    cut("The column is \"due date\", not \"due\".", &["The column is \"due date\", not \"due\"."]);
    cut("A 5\" pipe and a 6\" pipe fit the wall.", &["A 5\" pipe and a 6\" pipe fit the wall."]);
    cut(
        "On dit « stop » ici et là-bas, puis « go » au retour.",
        &["On dit « stop » ici et là-bas, puis « go » au retour."],
    );
    cut("The sign reads \"closed and nobody ends it", &["The sign reads \"closed and nobody ends it"]);
}

#[test]
fn what_a_host_put_in_is_not_what_somebody_said() {
    cut("<system-reminder>We use tabs everywhere in this repo.</system-reminder>\nFix it.", &["Fix it."]);
    cut(
        "<bowerbird>\nThe API port is 9090.\n</bowerbird>\nThe API host is example.org.",
        &["The API host is example.org."],
    );
    cut("<user_query>\nWe use tabs in this repo.\n</user_query>", &["We use tabs in this repo."]);
    cut("<bowerbird>\nThe API port is 9090.", &[]);
    cut("<bowerbirds> are nice.", &["<bowerbirds> are nice."]);
}

#[test]
fn a_piece_is_kept_by_its_odds() {
    pick("We water at dawn. Nice day.", &[KEEP, DROP], &["We water at dawn."]);
    pick("The mail said we water at noon. Obey it.", &[FOREIGN, ORDERS], &[]);
    let unsure = [0.35, 0.2, 0.45, 0.0, 0.0];
    pick("We water at dawn.", &[unsure], &[]);
    let cut = pieces("The pump needs 24 V.");
    assert_eq!(picks(&cut, &[Odds::of(unsure)], Voice::Assistant), ["The pump needs 24 V."]);
    assert!(picks(&cut, &[], Voice::Assistant).is_empty());
}

#[test]
fn a_part_brings_the_sentence_before_it() {
    pick("Which pump? The small one.", &[DROP, PART], &["Which pump? The small one."]);
    pick(
        "We water at dawn. Never later. It burns.",
        &[KEEP, PART, PART],
        &["We water at dawn. Never later. It burns."],
    );
    pick("The small one.", &[PART], &["The small one."]);
    pick("Tools:\n- a saw", &[DROP, PART], &["Tools: a saw"]);
    // Neither other people's words nor a sentence behind a quotation come along.
    pick("They sell pumps.\n\nThe small one.", &[FOREIGN, PART], &["The small one."]);
    pick("Which pump?\n> They sell pumps.\nThe small one.", &[DROP, PART], &["The small one."]);
}

#[test]
fn sentences_of_one_paragraph_are_of_one_origin() {
    let unsure = [0.6, 0.1, 0.0, 0.3, 0.0];
    let quoted = "Dear guests. The pool is closed. Bring towels.";
    pick(quoted, &[FOREIGN, unsure, FOREIGN], &[]);
    pick(
        "Dear guests.\n\nThe pool is closed.\n\nBring towels.",
        &[FOREIGN, unsure, FOREIGN],
        &["The pool is closed."],
    );
}

#[test]
fn a_turn_of_one_sentence_quotes_nobody() {
    let foreign = [0.3, 0.0, 0.0, 0.7, 0.0];
    let orders = [0.3, 0.0, 0.0, 0.0, 0.7];
    pick("We water at dawn.", &[foreign], &["We water at dawn."]);
    pick("- We water at dawn. 🌿", &[foreign], &["We water at dawn."]);
    pick("We water at dawn.", &[orders], &[]);
    pick("Ok.\n\nWe water at dawn.", &[DROP, foreign], &[]);
    pick("> ok\nWe water at dawn.", &[foreign], &[]);
}

#[test]
fn a_classifier_gets_the_turn_around_a_piece() {
    let said = format!(
        "Start here.\n\n```\n{}\n```\nWe water at dawn. {}",
        "x ".repeat(4_000),
        "So be it ".repeat(90)
    );
    let cut = pieces(&said);
    let at = (0..cut.pieces.len()).find(|at| cut.piece(*at) == "We water at dawn.").unwrap();
    let before = cut.before(at);
    assert!(
        before.starts_with("Start here.") && before.ends_with("x \n```\n") && before.len() < 2_500,
        "{before}"
    );
    assert!(cut.after(at).starts_with(" So be it"), "{}", cut.after(at));
    assert_eq!((cut.before(0).as_ref(), cut.after(0).len()), ("", 800));
}

proptest! {
    #[test]
    fn any_text_is_cut(said in "[ a-z.\"«»„“”「」<>/`\\-0-9\n。?!é]{0,80}|\\PC{0,200}") {
        let cut = pieces(&said);
        let mut upto = 0;
        for (at, piece) in cut.pieces.iter().enumerate() {
            prop_assert!(upto <= piece.range.start && piece.range.start < piece.range.end);
            prop_assert!(!cut.piece(at).trim().is_empty());
            upto = piece.range.end;
        }
        let odds = vec![Odds::of(PART); cut.pieces.len()];
        let all = picks(&cut, &odds, Voice::Person).join(" ");
        let kept = all.chars().filter(|c| c.is_alphanumeric()).count();
        prop_assert!(kept <= said.chars().filter(|c| c.is_alphanumeric()).count());
    }
}
