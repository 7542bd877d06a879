//! Loads the fonts of a file and returns the text and the width of each code in them.

use hayro_cmap::BfString;
use hayro_font::kurbo::Vec2;
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn, GlyphId};
use hayro_syntax::object::{Array, Dict, Object, Rect, Stream};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::unpack::{Budget, fits};

/// The fonts of one file.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    resolver: FontResolverFn,
    maps: CMapResolverFn,
    /// By the address of the dictionary, which stays where it is while the file is read.
    loaded: HashMap<usize, Option<Rc<Loaded<'a>>>>,
    /// The same fonts in the order of their numbers.
    all: Vec<Rc<Loaded<'a>>>,
}

/// The width of a code in thousandths of the font's size, and its text.
type Code = (Vec2, Rc<str>);

/// A font.
pub(super) struct Loaded<'a> {
    font: Font<'a>,
    number: u32,
    em: f64,
    codes: RefCell<HashMap<u32, Code>>,
    /// How many glyphs were shown with a text, and how many without.
    known: Cell<u64>,
    unknown: Cell<u64>,
}

impl<'a> Fonts<'a> {
    pub(super) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            resolver: Arc::new(|query| match query {
                FontQuery::Standard(font) => Some(font.get_font_data()),
                FontQuery::Fallback(query) => Some(query.pick_standard_font().get_font_data()),
            }),
            maps: Arc::new(hayro_cmap::load_embedded),
            loaded: HashMap::new(),
            all: Vec::new(),
        }
    }

    /// Returns a font; `None` if it cannot be read, or would unpack to more than the budget allows.
    pub(super) fn load(&mut self, dict: &Dict<'a>, budget: &mut Budget) -> Option<Rc<Loaded<'a>>> {
        let key = dict.data().as_ptr() as usize;
        if let Some(known) = self.loaded.get(&key) {
            return known.clone();
        }
        let font = if streams(dict).iter().all(|stream| fits(stream, budget)) {
            self.cache.font(dict, &self.resolver, &self.maps)
        } else {
            None
        };
        let loaded = font.map(|font| {
            let em = if is_type3(&font) { type3_em(dict) } else { 1.0 };
            Rc::new(Loaded {
                font,
                number: self.all.len() as u32,
                em,
                codes: RefCell::default(),
                known: Cell::new(0),
                unknown: Cell::new(0),
            })
        });
        self.all.extend(loaded.clone());
        self.loaded.insert(key, loaded.clone());
        loaded
    }

    /// Returns which fonts are monospaced, by their numbers.
    pub(super) fn monospaced(&self) -> Vec<bool> {
        self.all.iter().map(|font| font.is_monospaced()).collect()
    }

    /// Returns how many of a hundred glyphs have no text, if they are more than symbols and drawings explain.
    pub(super) fn unknown(&self) -> Option<u64> {
        const MOST: u64 = 10;
        let unknown: u64 = self.all.iter().map(|font| font.unknown.get()).sum();
        let all = unknown + self.all.iter().map(|font| font.known.get()).sum::<u64>();
        Some(unknown * 100 / all.max(1)).filter(|share| *share >= MOST)
    }
}

impl Loaded<'_> {
    pub(super) fn is_horizontal(&self) -> bool {
        self.font.is_horizontal()
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the height of an em in units of text space at size 1.
    pub(super) fn em(&self) -> f64 {
        self.em
    }

    pub(super) fn read_code(&self, bytes: &[u8], at: usize) -> (u32, usize) {
        self.font.read_code(bytes, at)
    }

    /// Returns the width and the text of a code; the text is empty if the font does not say.
    pub(super) fn code(&self, code: u32) -> Code {
        let mut codes = self.codes.borrow_mut();
        let entry = codes.entry(code).or_insert_with(|| {
            let text = match self.font.glyph(GlyphId::NOTDEF, code) {
                FontGlyph::Outline(glyph) => glyph.as_unicode(),
                FontGlyph::Type3(glyph) => glyph.as_unicode(),
            };
            let text = match text {
                Some(BfString::Char(letter)) => letter.to_string(),
                Some(BfString::String(text)) => text,
                None => String::new(),
            };
            (self.font.code_advance(code), super::words::letters(&text).into())
        });
        let count = if entry.1.is_empty() { &self.unknown } else { &self.known };
        count.set(count.get() + 1);
        entry.clone()
    }

    /// Returns whether all letters that were shown are equally wide, and narrow as in code: those of East Asian scripts are an em.
    fn is_monospaced(&self) -> bool {
        // Figures are equally wide in most fonts, and a few letters may be by chance.
        const FEWEST: usize = 8;
        const WIDEST: f64 = 700.0;
        let codes = self.codes.borrow();
        let mut widths = codes
            .values()
            .filter(|(_, text)| text.chars().any(|letter| !letter.is_numeric() && !letter.is_whitespace()))
            .map(|(width, _)| width.x);
        let Some(first) = widths.next() else { return false };
        let mut count = 1;
        let all_equal = widths.all(|width| {
            count += 1;
            (width - first).abs() < 1.0
        });
        all_equal && count >= FEWEST && first > 0.0 && first <= WIDEST
    }
}

fn is_type3(font: &Font<'_>) -> bool {
    matches!(font.glyph(GlyphId::NOTDEF, 0), FontGlyph::Type3(_))
}

/// Returns the height of an em of a Type 3 font, which has units of its own: the box of its glyphs is about an em high.
fn type3_em(dict: &Dict<'_>) -> f64 {
    let matrix = dict.get::<[f64; 6]>(b"FontMatrix").unwrap_or([0.001, 0.0, 0.0, 0.001, 0.0, 0.0]);
    let height = dict.get::<Rect>(b"FontBBox").map_or(0.0, |of| of.y1 - of.y0);
    let em = height * matrix[3].abs();
    if em > 0.0 && em.is_finite() { em } else { 1.0 }
}

/// Returns the streams that loading a font unpacks.
fn streams<'a>(dict: &Dict<'a>) -> Vec<Stream<'a>> {
    let mut found = Vec::new();
    let descendants = dict.get::<Array<'a>>(b"DescendantFonts");
    let parts = descendants.iter().flat_map(|fonts| fonts.iter::<Dict<'a>>().take(1));
    for font in std::iter::once(dict.clone()).chain(parts) {
        let descriptor = font.get::<Dict<'a>>(b"FontDescriptor").unwrap_or_default();
        for (of, key) in [
            (&font, "ToUnicode"),
            (&font, "Encoding"),
            (&font, "CIDToGIDMap"),
            (&descriptor, "FontFile"),
            (&descriptor, "FontFile2"),
            (&descriptor, "FontFile3"),
        ] {
            if let Some(Object::Stream(stream)) = of.get::<Object<'a>>(key) {
                found.push(stream);
            }
        }
    }
    found
}
