//! The xml of a part, one event after the other, each of bounded length.

use std::io::{self, BufRead, Read};

use cellar_base::limits::{MAX_IDLE_XML_EVENTS, MAX_XML_EVENT_BYTES, XML_EVENTS_PER_FOUND};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::archive::{Limit, Part, part_fault};
use crate::WorkbookError;

/// How deep elements may stand in each other: what is open is held in memory.
const MAX_DEPTH: usize = 64;

/// A part that is xml.
#[derive(Debug)]
pub(crate) struct Xml<R: Read> {
    reader: Reader<Limited<Part<R>>>,
    buffer: Vec<u8>,
    part: String,
    depth: usize,
    /// Events that may come without that anything is found.
    idle_left: u64,
}

impl<R: Read> Xml<R> {
    pub(crate) fn new(part: Part<R>, name: &str) -> Self {
        let mut reader = Reader::from_reader(Limited { inner: part, event_bytes: 0 });
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self {
            reader,
            buffer: Vec::new(),
            part: name.to_owned(),
            depth: 0,
            idle_left: MAX_IDLE_XML_EVENTS,
        }
    }

    /// The next event; an empty element is a start and an end.
    pub(crate) fn next(&mut self) -> Result<Event<'_>, WorkbookError> {
        let Some(idle_left) = self.idle_left.checked_sub(1) else {
            return Err(WorkbookError::NothingInTags { part: self.part.clone() });
        };
        self.idle_left = idle_left;
        self.reader.get_mut().event_bytes = 0;
        self.buffer.clear();
        let event = self.reader.read_event_into(&mut self.buffer).map_err(|error| match error {
            quick_xml::Error::Io(error) => part_fault(&self.part, &error),
            error => WorkbookError::Damaged { part: self.part.clone(), why: error.to_string() },
        })?;
        match event {
            Event::Start(_) => self.depth = self.depth.saturating_add(1),
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            // The reader itself does not mind.
            Event::Eof if self.depth > 0 => return Err(ended(&self.part)),
            _ => {}
        }
        if self.depth > MAX_DEPTH {
            let why = format!("elements stand more than {MAX_DEPTH} deep in each other");
            return Err(WorkbookError::Damaged { part: self.part.clone(), why });
        }
        Ok(event)
    }

    /// Something was found: a cell, or a text.
    pub(crate) fn found(&mut self) {
        self.idle_left = (self.idle_left + XML_EVENTS_PER_FOUND).min(MAX_IDLE_XML_EVENTS);
    }

    /// The error for a part that ends too early.
    pub(crate) fn ended(&self) -> WorkbookError {
        ended(&self.part)
    }

    /// The error for a part that is not as it has to be.
    pub(crate) fn damaged(&self, why: &str) -> WorkbookError {
        WorkbookError::Damaged { part: self.part.clone(), why: why.to_owned() }
    }
}

fn ended(part: &str) -> WorkbookError {
    WorkbookError::Damaged { part: part.to_owned(), why: "it ends in the middle".to_owned() }
}

/// An attribute by its name without prefix, its entities resolved.
pub(crate) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let mut whole = attributes.with_checks(false).flatten();
    let value = whole.find(|attribute| attribute.key.local_name().as_ref() == name)?.value;
    Some(
        quick_xml::escape::unescape(&value)
            .map_or_else(|_| value.to_string(), |text| text.into_owned()),
    )
}

/// What an event adds to the text around it.
pub(crate) fn push_text(event: &Event<'_>, text: &mut String) {
    match event {
        Event::Text(content) => text.push_str(&content.xml10_content()),
        Event::CData(content) => text.push_str(&content.xml10_content()),
        Event::GeneralRef(reference) => match reference.resolve_char_ref() {
            Ok(Some(character)) => text.push(character),
            _ => {
                let name = reference.xml10_content();
                match quick_xml::escape::resolve_predefined_entity(&name) {
                    Some(entity) => text.push_str(entity),
                    // Not one that xml has: kept as it is written.
                    None => {
                        text.push('&');
                        text.push_str(&name);
                        text.push(';');
                    }
                }
            }
        },
        _ => {}
    }
}

/// Gives at most so much for one event.
#[derive(Debug)]
struct Limited<B> {
    inner: B,
    event_bytes: usize,
}

impl<B: BufRead> Read for Limited<B> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(room)?;
        self.event_bytes = self.event_bytes.saturating_add(bytes);
        Ok(bytes)
    }
}

impl<B: BufRead> BufRead for Limited<B> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // One more than allowed, to see that there is more.
        let Some(room) =
            (MAX_XML_EVENT_BYTES + 1).checked_sub(self.event_bytes).filter(|room| *room > 0)
        else {
            return Err(io::Error::other(Limit::Event));
        };
        let window = self.inner.fill_buf()?;
        Ok(window.get(..room).unwrap_or(window))
    }

    fn consume(&mut self, bytes: usize) {
        self.event_bytes = self.event_bytes.saturating_add(bytes);
        self.inner.consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::workbook::archive::Archive;

    /// Reads a part of `tags` tags. After every `found_every` events something is found.
    fn read(tags: usize, idle_left: u64, found_every: Option<usize>) -> Result<u64, WorkbookError> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("a", SimpleFileOptions::default()).unwrap();
        zip.write_all("<a/>".repeat(tags).as_bytes()).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        let archive = Archive::open(bytes.as_slice()).unwrap();
        let mut xml = Xml::new(archive.part("a").unwrap(), "a");
        assert_eq!(xml.idle_left, MAX_IDLE_XML_EVENTS);
        xml.idle_left = idle_left;
        for event in 0.. {
            if matches!(xml.next()?, Event::Eof) {
                break;
            }
            if found_every.is_some_and(|every| event % every == 0) {
                xml.found();
            }
        }
        Ok(xml.idle_left)
    }

    #[test]
    fn tags_without_anything_in_them_end() {
        // A tag is a start and an end, and then the part ends.
        for (idle_left, ends) in [(200, true), (201, false)] {
            match read(100, idle_left, None) {
                Ok(left) => assert!(!ends && left == 0),
                Err(error) => {
                    assert!(
                        ends && matches!(error, WorkbookError::NothingInTags { .. }),
                        "{error}"
                    );
                }
            }
        }
        // Each find allows more tags, up to the first bound.
        let every = usize::try_from(XML_EVENTS_PER_FOUND).unwrap();
        assert!(read(10 * every, 1, Some(every)).is_ok());
        assert!(read(10 * every, 1, Some(every + 1)).is_err());
        let left = read(1, MAX_IDLE_XML_EVENTS, Some(1)).unwrap();
        assert_eq!(left, MAX_IDLE_XML_EVENTS - 1, "the end of the part");
    }
}
