//! Resolves the addresses of links between files.

/// Returns the path to which a link's address leads from a folder, without its part behind `#`.
pub fn linked_path(folder: &str, address: &str) -> String {
    let address = percent_decoded(address.split('#').next().unwrap_or_default());
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in address.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns an address without its `%20` and the like; one that is no UTF-8 then stays as it is.
fn percent_decoded(address: &str) -> String {
    let bytes = address.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| address.get(at + 1..at + 3)).flatten();
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        decoded.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).unwrap_or_else(|_| address.to_owned())
}
