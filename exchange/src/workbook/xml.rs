//! Reads the XML of a workbook part as a sequence of events of limited length.

use std::io::{self, BufRead, Read};

use cellar_base::limits::{MAX_IDLE_XML_EVENTS, MAX_XML_EVENT_BYTES, XML_EVENTS_PER_FOUND};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::archive::{Part, PartFault, to_part_error};
use super::not_imported::NotImported;
use crate::WorkbookError;

/// The parser keeps all open elements in memory.
const MAX_DEPTH: usize = 64;

#[derive(Debug)]
pub(crate) struct Xml<R: Read> {
    reader: Reader<EventLimiter<Part<R>>>,
    buffer: Vec<u8>,
    part: String,
    depth: usize,
    /// Number of events that may follow without any cell or text.
    remaining_idle_events: u64,
    note_tag: Option<NoteTag>,
    /// Contents of the part that are not imported, up to the last event.
    pub(crate) not_imported: NotImported,
}

/// Counts the contents that a tag starts, if an import does not take them.
pub(crate) type NoteTag = fn(&BytesStart<'_>, &mut NotImported);

impl<R: Read> Xml<R> {
    pub(crate) fn new(part: Part<R>, name: &str) -> Self {
        let mut reader = Reader::from_reader(EventLimiter { part, event_bytes: 0 });
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self {
            reader,
            buffer: Vec::new(),
            part: name.to_owned(),
            depth: 0,
            remaining_idle_events: MAX_IDLE_XML_EVENTS,
            note_tag: None,
            not_imported: NotImported::default(),
        }
    }

    pub(crate) fn noting(part: Part<R>, name: &str, note_tag: NoteTag) -> Self {
        Self { note_tag: Some(note_tag), ..Self::new(part, name) }
    }

    /// Returns an empty element as a start event followed by an end event.
    pub(crate) fn next_event(&mut self) -> Result<Event<'_>, WorkbookError> {
        self.count_idle_event()?;
        self.reader.get_mut().event_bytes = 0;
        self.buffer.clear();
        let event = self.reader.read_event_into(&mut self.buffer).map_err(|error| match error {
            quick_xml::Error::Io(io_error) => to_part_error(&self.part, &io_error),
            syntax_error => damaged(&self.part, &syntax_error.to_string()),
        })?;
        match &event {
            Event::Start(tag) => {
                self.depth = self.depth.saturating_add(1);
                if let Some(note_tag) = self.note_tag {
                    note_tag(tag, &mut self.not_imported);
                }
            }
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            // Check for unclosed elements, which the XML parser does not report at the end of the
            // file.
            Event::Eof if self.depth > 0 => return Err(truncated(&self.part)),
            _ => {}
        }
        if self.depth > MAX_DEPTH {
            let why = format!("elements are nested more than {MAX_DEPTH} levels deep");
            return Err(damaged(&self.part, &why));
        }
        Ok(event)
    }

    /// Counts an event that may turn out to be part of neither a cell nor a text. Returns an error
    /// if too many such events follow each other.
    fn count_idle_event(&mut self) -> Result<(), WorkbookError> {
        match self.remaining_idle_events.checked_sub(1) {
            Some(remaining_idle_events) => {
                self.remaining_idle_events = remaining_idle_events;
                Ok(())
            }
            None => Err(WorkbookError::NothingInTags { part: self.part.clone() }),
        }
    }

    /// Must be called after the start tag has been read.
    pub(crate) fn skip_element(&mut self) -> Result<(), WorkbookError> {
        let parent_depth = self.depth.saturating_sub(1);
        while self.depth > parent_depth {
            self.next_event()?;
        }
        Ok(())
    }

    /// Reports that a cell or text was found. This allows more events to follow without any cell or
    /// text, up to the initial limit.
    pub(crate) fn record_content(&mut self) {
        self.remaining_idle_events =
            (self.remaining_idle_events + XML_EVENTS_PER_FOUND).min(MAX_IDLE_XML_EVENTS);
    }

    pub(crate) fn truncated(&self) -> WorkbookError {
        truncated(&self.part)
    }

    pub(crate) fn damaged(&self, why: &str) -> WorkbookError {
        damaged(&self.part, why)
    }
}

fn truncated(part: &str) -> WorkbookError {
    damaged(part, "the part is truncated")
}

fn damaged(part: &str, why: &str) -> WorkbookError {
    WorkbookError::Damaged { part: part.to_owned(), why: why.to_owned() }
}

/// Entities in the value are resolved.
pub(crate) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let mut valid_attributes = attributes.with_checks(false).flatten();
    let attribute =
        valid_attributes.find(|attribute| attribute.key.local_name().as_ref() == name)?;
    match quick_xml::escape::unescape(&attribute.value) {
        Ok(unescaped_value) => Some(unescaped_value.into_owned()),
        Err(_) => Some(attribute.value.to_string()),
    }
}

/// Whether the value of an attribute means yes.
pub(crate) fn is_true(value: &str) -> bool {
    matches!(value, "1" | "true" | "on")
}

pub(crate) fn push_text(event: &Event<'_>, text: &mut String) {
    match event {
        Event::Text(content) => text.push_str(&content.xml10_content()),
        Event::CData(content) => text.push_str(&content.xml10_content()),
        Event::GeneralRef(reference) => push_reference(reference, text),
        _ => {}
    }
}

/// An unknown entity is appended unchanged.
fn push_reference(reference: &BytesRef<'_>, text: &mut String) {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        text.push(character);
        return;
    }
    let entity_name = reference.xml10_content();
    match quick_xml::escape::resolve_predefined_entity(&entity_name) {
        Some(entity_text) => text.push_str(entity_text),
        None => {
            text.push('&');
            text.push_str(&entity_name);
            text.push(';');
        }
    }
}

#[derive(Debug)]
struct EventLimiter<B> {
    part: B,
    event_bytes: usize,
}

impl<B: BufRead> Read for EventLimiter<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.part.read(buffer)?;
        self.event_bytes = self.event_bytes.saturating_add(bytes);
        Ok(bytes)
    }
}

impl<B: BufRead> BufRead for EventLimiter<B> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // Allow one byte more than the limit, so that an event of exactly the maximum length is
        // accepted.
        let bytes_left = (MAX_XML_EVENT_BYTES + 1).saturating_sub(self.event_bytes);
        if bytes_left == 0 {
            return Err(io::Error::other(PartFault::EventTooLong));
        }
        let window = self.part.fill_buf()?;
        Ok(window.get(..bytes_left).unwrap_or(window))
    }

    fn consume(&mut self, bytes: usize) {
        self.event_bytes = self.event_bytes.saturating_add(bytes);
        self.part.consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::workbook::archive::Archive;

    /// Reads a part with `tags` tags. Every `content_every`th event is recorded as content. Returns
    /// the number of further events without content that are still allowed.
    fn read(
        tags: usize,
        remaining_idle_events: u64,
        content_every: Option<usize>,
    ) -> Result<u64, WorkbookError> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("a", SimpleFileOptions::default()).unwrap();
        zip.write_all("<a/>".repeat(tags).as_bytes()).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        let archive = Archive::open(bytes.as_slice()).unwrap();
        let mut xml = Xml::new(archive.open_part("a").unwrap(), "a");
        assert_eq!(xml.remaining_idle_events, MAX_IDLE_XML_EVENTS);
        xml.remaining_idle_events = remaining_idle_events;
        for event in 0.. {
            if matches!(xml.next_event()?, Event::Eof) {
                break;
            }
            if content_every.is_some_and(|every| event % every == 0) {
                xml.record_content();
            }
        }
        Ok(xml.remaining_idle_events)
    }

    #[test]
    fn tags_without_anything_in_them_end() {
        // There are a start event and an end event per tag, and one event for the end of the part.
        for (remaining_idle_events, ends) in [(200, true), (201, false)] {
            match read(100, remaining_idle_events, None) {
                Ok(left) => assert!(!ends && left == 0),
                Err(error) => {
                    assert!(
                        ends && matches!(error, WorkbookError::NothingInTags { .. }),
                        "{error}"
                    );
                }
            }
        }
        // Content raises the number of allowed events again, but not above its initial value.
        let every = usize::try_from(XML_EVENTS_PER_FOUND).unwrap();
        assert!(read(10 * every, 1, Some(every)).is_ok());
        assert!(read(10 * every, 1, Some(every + 1)).is_err());
        let left = read(1, MAX_IDLE_XML_EVENTS, Some(1)).unwrap();
        assert_eq!(left, MAX_IDLE_XML_EVENTS - 1, "the end of the part");
    }
}
