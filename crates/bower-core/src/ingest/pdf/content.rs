//! Runs the content of a page and returns its words with their places.
//!
//! Only what shows text is run: no path, colour or image is looked at. Source: ISO 32000-2, sections 8.4, 9.2 to 9.4 and 14.6.

use hayro_font::kurbo::{Affine, Point, Vec2};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::dict_or_stream;
use hayro_syntax::object::{Dict, Name, Object};
use hayro_syntax::page::{Page, Resources};
use std::borrow::Cow;
use std::rc::Rc;

use super::fonts::{Fonts, Loaded};
use super::unpack::Budget;
use super::words::{Glyph, PageWord, PageWords};

/// Deepest nesting of forms: real pages use a handful, and each level takes stack.
const DEEPEST_FORM: usize = 16;

/// Steps that a form costs by itself: it is unpacked each time that it is shown.
const FORM_STEPS: u64 = 500;

/// Deepest nesting of saved graphics states (ISO 32000-1, table C.1, names 28 as what readers must allow).
const DEEPEST_STATE: usize = 512;

/// The parts of the graphics state that move text.
#[derive(Clone)]
struct State<'a> {
    matrix: Affine,
    font: Option<Rc<Loaded<'a>>>,
    size: f64,
    letter_space: f64,
    word_space: f64,
    /// Horizontal scaling; 1 is normal.
    stretch: f64,
    leading: f64,
    rise: f64,
}

/// What an open sequence of marked content does to the text inside.
enum Mark {
    Nothing,
    /// Running heads and page numbers, as the file itself marks them.
    Artifact,
    /// The text that replaces the glyphs inside; `None` after it was taken.
    Replaced(Option<String>),
}

/// Runs the content of pages.
pub(super) struct ContentReader<'a, 'b> {
    fonts: &'b mut Fonts<'a>,
    budget: &'b mut Budget,
    state: State<'a>,
    saved: Vec<State<'a>>,
    text: Affine,
    line: Affine,
    marks: Vec<Mark>,
    words: PageWords,
    depth: usize,
}

/// Returns the words of a page in the order of its content, with places in points from the top left corner.
/// Stops silently where the budget ends, which the caller sees in it.
pub(super) fn words<'a>(page: &Page<'a>, fonts: &mut Fonts<'a>, budget: &mut Budget) -> Vec<PageWord> {
    let matrix = Affine::new(page.initial_transform(true).as_coeffs());
    let state = State {
        matrix,
        font: None,
        size: 0.0,
        letter_space: 0.0,
        word_space: 0.0,
        stretch: 1.0,
        leading: 0.0,
        rise: 0.0,
    };
    let mut reader = ContentReader {
        fonts,
        budget,
        state,
        saved: Vec::new(),
        text: Affine::IDENTITY,
        line: Affine::IDENTITY,
        marks: Vec::new(),
        words: PageWords::new(page.render_dimensions()),
        depth: 0,
    };
    let content = super::unpack::page(page.raw(), reader.budget);
    reader.run(&content, page.resources());
    reader.words.finish()
}

impl<'a> ContentReader<'a, '_> {
    fn run(&mut self, content: &[u8], resources: &Resources<'a>) {
        let mut operations = TypedIter::new(content);
        let saved = self.saved.len();
        while let Some(operation) = operations.next() {
            if !self.budget.step(1) {
                break;
            }
            if self.words.is_full() {
                break;
            }
            self.apply(operation, resources);
        }
        // What a form saved and did not restore ends with it.
        if self.saved.len() > saved {
            self.state = self.saved.swap_remove(saved);
            self.saved.truncate(saved);
        }
    }

    fn apply(&mut self, operation: TypedInstruction<'_, '_>, resources: &Resources<'a>) {
        match operation {
            TypedInstruction::SaveState(_) if self.saved.len() < DEEPEST_STATE => {
                self.saved.push(self.state.clone());
            }
            TypedInstruction::RestoreState(_) => self.state = self.saved.pop().unwrap_or(self.state.clone()),
            TypedInstruction::Transform(by) => {
                let by = [by.0, by.1, by.2, by.3, by.4, by.5].map(|number| number.as_f64());
                self.state.matrix *= Affine::new(by);
            }
            TypedInstruction::XObject(named) => self.form(named.0, resources),
            TypedInstruction::SetGraphicsState(named) => {
                if let Some(state) = resources.get_ext_g_state(named.0) {
                    self.graphics_state(&state);
                }
            }
            TypedInstruction::BeginMarkedContent(mark) => self.open_mark(mark.0, None),
            TypedInstruction::BeginMarkedContentWithProperties(mark) => {
                let named = match &mark.1 {
                    Object::Name(name) => resources.properties.get::<Dict<'_>>(name),
                    other => dict_or_stream(other).map(|(dict, _)| dict.clone()),
                };
                self.open_mark(mark.0, named.as_ref());
            }
            TypedInstruction::EndMarkedContent(_) => {
                self.marks.pop();
            }
            other => self.apply_text(other, resources),
        }
    }

    fn apply_text(&mut self, operation: TypedInstruction<'_, '_>, resources: &Resources<'a>) {
        match operation {
            TypedInstruction::BeginText(_) => self.set_line(Affine::IDENTITY),
            TypedInstruction::SetTextMatrix(to) => {
                let to = [to.0, to.1, to.2, to.3, to.4, to.5].map(|number| number.as_f64());
                self.set_line(Affine::new(to));
            }
            TypedInstruction::NextLine(by) => self.next_line(by.0.as_f64(), by.1.as_f64()),
            TypedInstruction::NextLineAndSetLeading(by) => {
                self.state.leading = -by.1.as_f64();
                self.next_line(by.0.as_f64(), by.1.as_f64());
            }
            TypedInstruction::NextLineUsingLeading(_) => self.next_line(0.0, -self.state.leading),
            TypedInstruction::TextFont(to) => {
                self.state.size = to.1.as_f64();
                self.state.font =
                    resources.get_font(to.0).and_then(|font| self.fonts.load(&font, self.budget));
            }
            TypedInstruction::CharacterSpacing(to) => self.state.letter_space = to.0.as_f64(),
            TypedInstruction::WordSpacing(to) => self.state.word_space = to.0.as_f64(),
            TypedInstruction::HorizontalScaling(to) => self.state.stretch = to.0.as_f64() / 100.0,
            TypedInstruction::TextLeading(to) => self.state.leading = to.0.as_f64(),
            TypedInstruction::TextRise(to) => self.state.rise = to.0.as_f64(),
            TypedInstruction::ShowText(text) => self.show(text.0),
            TypedInstruction::NextLineAndShowText(text) => {
                self.next_line(0.0, -self.state.leading);
                self.show(text.0);
            }
            TypedInstruction::ShowTextWithParameters(text) => {
                self.state.word_space = text.0.as_f64();
                self.state.letter_space = text.1.as_f64();
                self.next_line(0.0, -self.state.leading);
                self.show(text.2);
            }
            TypedInstruction::ShowTexts(texts) => {
                for part in texts.0.iter::<Object<'_>>() {
                    match part {
                        Object::Number(by) => self.shift(-by.as_f64() / 1000.0 * self.state.size),
                        Object::String(text) => self.show(&text),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn set_line(&mut self, to: Affine) {
        (self.text, self.line) = (to, to);
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.set_line(self.line * Affine::translate((x, y)));
    }

    /// Moves along the line by a distance in unstretched text space.
    fn shift(&mut self, by: f64) {
        let is_vertical = self.state.font.as_ref().is_some_and(|font| !font.is_horizontal());
        let by = if is_vertical { Vec2::new(0.0, by) } else { Vec2::new(by * self.state.stretch, 0.0) };
        self.text *= Affine::translate(by);
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.state.font.clone() else { return };
        let mut at = 0;
        while at < bytes.len() && self.budget.step(1) {
            let (code, length) = font.read_code(bytes, at);
            at += length.max(1);
            let (advance, text) = font.code(code);
            let size = self.state.size;
            let space =
                self.state.letter_space + if length == 1 && code == 32 { self.state.word_space } else { 0.0 };
            let along = if font.is_horizontal() { advance.x } else { advance.y } / 1000.0;
            self.place(&font, &text, along);
            self.shift(along * size + space);
        }
    }

    /// Adds a glyph at the current place; `along` is its length along the line in parts of the font's size.
    fn place(&mut self, font: &Loaded<'a>, text: &str, along: f64) {
        let State { matrix, size, stretch, rise, .. } = self.state;
        let to_page = matrix * self.text * Affine::new([size * stretch, 0.0, 0.0, size, 0.0, rise]);
        let start = to_page * Point::ZERO;
        let end =
            to_page * if font.is_horizontal() { Point::new(along, 0.0) } else { Point::new(0.0, along) };
        let across = if font.is_horizontal() { Point::new(0.0, 1.0) } else { Point::new(1.0, 0.0) };
        let up = to_page * across - start;
        let height = up.hypot() * font.em();
        let Some(text) = self.replaced(text) else { return };
        self.words.add(&Glyph { text: &text, start, end, up, size: height, font: font.number() });
    }

    /// Returns the text of a glyph under the open marks; `None` if it is not text of the page.
    fn replaced<'t>(&mut self, text: &'t str) -> Option<Cow<'t, str>> {
        if self.marks.iter().any(|mark| matches!(mark, Mark::Artifact)) {
            return None;
        }
        let outermost = self.marks.iter_mut().find_map(|mark| match mark {
            Mark::Replaced(text) => Some(text),
            Mark::Nothing | Mark::Artifact => None,
        });
        Some(outermost.map_or(Cow::Borrowed(text), |other| Cow::Owned(other.take().unwrap_or_default())))
    }

    fn open_mark(&mut self, tag: &Name<'_>, properties: Option<&Dict<'_>>) {
        let mark = match properties {
            Some(of) if tag.as_ref() == b"Artifact" => {
                let is_pagination =
                    of.get::<Name<'_>>(b"Type").is_some_and(|is| is.as_ref() == b"Pagination");
                if is_pagination { Mark::Artifact } else { Mark::Nothing }
            }
            Some(of) => match of.get::<hayro_syntax::object::String<'_>>(b"ActualText") {
                Some(text) => Mark::Replaced(Some(super::strings::text_string(&text))),
                None => Mark::Nothing,
            },
            None => Mark::Nothing,
        };
        if self.marks.len() < DEEPEST_STATE {
            self.marks.push(mark);
        }
    }

    fn graphics_state(&mut self, state: &Dict<'a>) {
        if let Some(font) = state.get::<hayro_syntax::object::Array<'_>>(b"Font") {
            let mut parts = font.flex_iter();
            if let (Some(font), Some(size)) = (parts.next::<Dict<'_>>(), parts.next::<f64>()) {
                self.state.font = self.fonts.load(&font, self.budget);
                self.state.size = size;
            }
        }
    }

    /// Runs a form, which is content of its own that a page shows.
    fn form(&mut self, name: &Name<'_>, resources: &Resources<'a>) {
        let Some(form) = resources.get_x_object(name) else { return };
        let is_form = form.dict().get::<Name<'_>>(b"Subtype").is_some_and(|kind| kind.as_ref() == b"Form");
        if !is_form || self.depth == DEEPEST_FORM || !self.budget.step(FORM_STEPS) {
            return;
        }
        let Some(content) = super::unpack::stream(&form, self.budget) else { return };
        let own = form.dict().get::<Dict<'a>>(b"Resources").map(Resources::new);
        let before = (self.state.clone(), self.text, self.line, self.marks.len());
        if let Some(by) = form.dict().get::<[f64; 6]>(b"Matrix") {
            self.state.matrix *= Affine::new(by);
        }
        self.depth += 1;
        self.run(&content, own.as_ref().unwrap_or(resources));
        self.depth -= 1;
        self.marks.truncate(before.3);
        (self.state, self.text, self.line, _) = before;
    }
}
