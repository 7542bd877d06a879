//! Reads documents that are zip files of XML: the parts by their names, within a limit, and the events of a part.

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use std::io::Cursor;

use super::read::{at_most, unpacks_too_much};
use super::split::one_line;

/// A zip file, and how many bytes of it may still be unpacked.
pub(super) struct Zipped<'a> {
    archive: zip::ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
    most: u64,
}

impl<'a> Zipped<'a> {
    /// Opens a file of which at most `most` bytes are unpacked.
    pub(super) fn open(bytes: &'a [u8], most: u64) -> Result<Self, String> {
        let archive = zip::ZipArchive::new(Cursor::new(bytes))
            .map_err(|source| format!("damaged: it is no whole zip file ({source})"))?;
        Ok(Self { archive, left: most, most })
    }

    /// Returns the names of the parts.
    pub(super) fn names(&self) -> Vec<String> {
        self.archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect()
    }

    /// Returns a part as text; `None` if the file has no such part.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            Err(source) => return Err(format!("damaged or encrypted: {name} cannot be read ({source})")),
        };
        let bytes = at_most(part, 0, self.left)
            .map_err(|source| format!("damaged: {name} cannot be read ({source})"))?
            .ok_or_else(|| unpacks_too_much(self.most))?;
        self.left -= bytes.len() as u64;
        let text = String::from_utf8(bytes).map_err(|_| format!("damaged: {name} is not UTF-8"))?;
        Ok(Some(text))
    }
}

/// What is read of XML.
pub(super) enum XmlEvent<'a> {
    Open(&'a XmlElement<'a>),
    Close(&'a str),
    Text(&'a str),
}

/// A start tag. An empty element is followed by its [`XmlEvent::Close`].
pub(super) struct XmlElement<'a>(BytesStart<'a>);

impl XmlElement<'_> {
    /// Returns the name with its prefix.
    pub(super) fn name(&self) -> &str {
        self.0.name().0
    }

    /// Returns the value of an attribute, named with its prefix.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let attribute = self.0.try_get_attribute(name).ok()??;
        attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
    }

    /// Returns the value of the first attribute with a name after a prefix, whatever the prefix is.
    pub(super) fn get_prefixed(&self, name: &str) -> Option<String> {
        let is_it = |key: &str| key.split_once(':').is_some_and(|(_, local)| local == name);
        let attribute = self.0.attributes().flatten().find(|attribute| is_it(attribute.key.0))?;
        attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
    }
}

/// Visits the events of a document in their order. Elements nest at most [`DEEPEST`] deep.
pub(super) fn each_event(xml: &str, visit: &mut dyn FnMut(XmlEvent<'_>)) -> Result<(), String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(|source| format!("damaged: its XML cannot be read ({source})"))? {
            Event::Start(start) => {
                depth += 1;
                if depth > DEEPEST {
                    return Err(format!("damaged: its elements nest deeper than {DEEPEST}"));
                }
                visit(XmlEvent::Open(&XmlElement(start)));
            }
            Event::Empty(start) => {
                let element = XmlElement(start);
                visit(XmlEvent::Open(&element));
                visit(XmlEvent::Close(element.name()));
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                visit(XmlEvent::Close(end.name().0));
            }
            Event::Text(text) => visit(XmlEvent::Text(&text.xml10_content())),
            Event::CData(text) => visit(XmlEvent::Text(&text.xml10_content())),
            Event::GeneralRef(reference) => {
                let letter = reference.resolve_char_ref().ok().flatten().map(String::from);
                let known = letter.as_deref().or_else(|| resolve_predefined_entity(&reference));
                if let Some(text) = known {
                    visit(XmlEvent::Text(text));
                }
            }
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// Deepest nesting of elements: no office program writes a tenth of it.
const DEEPEST: usize = 4_000;

/// Returns the text of the first element with a name.
pub(super) fn first_text(xml: &str, name: &str) -> Option<String> {
    let (mut is_open, mut text) = (false, None::<String>);
    let read = each_event(xml, &mut |event| match event {
        XmlEvent::Open(element) if element.name() == name && text.is_none() => {
            is_open = true;
            text = Some(String::new());
        }
        XmlEvent::Close(closed) if closed == name => is_open = false,
        XmlEvent::Text(piece) if is_open => text.get_or_insert_default().push_str(piece),
        XmlEvent::Open(_) | XmlEvent::Close(_) | XmlEvent::Text(_) => {}
    });
    text.map(|text| one_line(&text)).filter(|text| read.is_ok() && !text.is_empty())
}

#[cfg(test)]
pub(super) mod testing {
    use std::io::Write;

    /// Packs parts into a zip file.
    pub(in crate::ingest) fn packed(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in parts {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }
}
