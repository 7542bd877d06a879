//! Decodes the text strings of a PDF file.

/// Returns a text string (ISO 32000-2, 7.9.2.2): UTF-16, UTF-8, or one byte a letter, read here as Latin-1.
pub(super) fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => {
            let units = rest.as_chunks::<2>().0.iter().map(|&pair| u16::from_be_bytes(pair));
            char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}
