//! Other documents with the same content as one that our writer has written.

/// With a prefix; with spaces and comments between elements; with a character
/// reference for every character; with CDATA; with an unknown element.
pub fn of(document: &str) -> Vec<String> {
    vec![
        add_prefix(document),
        add_space(document),
        use_references(document),
        use_sections(document),
        with_unknown(document),
    ]
}

fn add_prefix(document: &str) -> String {
    let mut variant = String::new();
    let mut rest = document.replace(" xmlns=", " xmlns:w=");
    while let Some(at) = rest.find('<') {
        let name = at + 1 + usize::from(rest[at + 1..].starts_with('/'));
        variant.push_str(&rest[..name]);
        if !rest[name..].starts_with('?') {
            variant.push_str("w:");
        }
        rest = rest[name..].to_owned();
    }
    variant + &rest
}

/// Nothing is put into an element without content: it would be its text.
fn add_space(document: &str) -> String {
    let mut variant = String::new();
    let mut opening = false;
    for tag in document.split_inclusive('>') {
        let closing = tag.starts_with("</");
        if tag.starts_with('<') && !variant.is_empty() && !(opening && closing) {
            variant.push_str("\r\n\t <!-- < & - -->");
        }
        variant.push_str(tag);
        opening = !tag.contains("</");
    }
    variant
}

/// Applies `change` to every text between tags that is not empty.
fn texts(document: &str, change: impl Fn(&str) -> String) -> String {
    let mut variant = String::new();
    for piece in document.split_inclusive('>') {
        let (text, tag) = piece.split_at(piece.find('<').unwrap_or(0));
        if !text.is_empty() {
            variant.push_str(&change(text));
        }
        variant.push_str(tag);
    }
    variant
}

fn use_references(document: &str) -> String {
    texts(document, |text| {
        let characters = unescape(text);
        let references = characters.chars().enumerate().map(|(k, c)| match k % 2 {
            0 => format!("&#{};", u32::from(c)),
            _ => format!("&#x{:x};", u32::from(c)),
        });
        references.collect()
    })
}

/// A carriage return would be read as a line feed there (XML 1.0 section 2.11).
fn use_sections(document: &str) -> String {
    texts(document, |text| {
        let text = unescape(text).replace("]]>", "]]]]><![CDATA[>");
        format!("<![CDATA[{}]]>", text.replace('\r', "]]>&#13;<![CDATA["))
    })
}

fn with_unknown(document: &str) -> String {
    let root = document.rfind("</").expect("a document has a root");
    let (front, end) = document.split_at(root);
    format!("{front}<unknownField a=\"&lt;\"><b/>text<b>]</b></unknownField>{end}")
}

fn unescape(text: &str) -> String {
    let plain = text.replace("&#13;", "\r").replace("&lt;", "<");
    plain.replace("&gt;", ">").replace("&amp;", "&")
}
