//! Counts the contents of the parts of xlsx and xlsb workbooks that have no cells.
//!
//! The list of content types says what a part is. A part that cannot be read is no error, because
//! the import does not need it.

use std::collections::BTreeSet;
use std::io::{Read, Seek};

use quick_xml::events::Event;

use super::archive::Archive;
use super::not_imported::{NotImported, Omission};
use super::xml::{Xml, attribute};
use crate::{ReadError, Source};

const CONTENT_TYPES_PART: &str = "[Content_Types].xml";
/// Number of XML events that are read of all these parts together. Contents after it are not
/// counted.
const MAX_EVENTS: u64 = 5_000_000;

pub(crate) fn count_other_parts<S: Source>(archive: &Archive<S>) -> NotImported
where
    S::Stream: Seek,
{
    count_parts_within(archive, MAX_EVENTS)
}

fn count_parts_within<S: Source>(archive: &Archive<S>, max_events: u64) -> NotImported
where
    S::Stream: Seek,
{
    let mut not_imported = NotImported::default();
    for name in archive.part_names() {
        if name.ends_with("vbaproject.bin") {
            not_imported.add(Omission::Macros, 1);
        } else if name.contains("/embeddings/") {
            not_imported.add(Omission::Controls, 1);
        }
    }
    let mut remaining_events = max_events;
    let content_types = read_content_types(archive, &mut remaining_events).unwrap_or_default();
    for ContentType { part, kind } in content_types {
        match kind.as_str() {
            "chart" | "chartex" => not_imported.add(Omission::Charts, 1),
            "pivottable" => not_imported.add(Omission::PivotTables, 1),
            "slicer" | "timeline" => not_imported.add(Omission::Slicers, 1),
            "externallink" => not_imported.add(Omission::ExternalLinks, 1),
            "controlproperties" | "activex" => not_imported.add(Omission::Controls, 1),
            "comments" | "drawing" | "connections" if archive.has_part(&part) => {
                let counts = count_elements(archive, &part, &mut remaining_events);
                not_imported.add_all(&counts);
            }
            _ => {}
        }
    }
    not_imported
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ContentType {
    part: String,
    /// Last part of the content type in lower case, such as `pivottable`.
    kind: String,
}

/// Returns no part twice, even if the file lists it twice.
fn read_content_types<S: Source>(
    archive: &Archive<S>,
    remaining_events: &mut u64,
) -> Result<BTreeSet<ContentType>, ReadError>
where
    S::Stream: Seek,
{
    let mut content_types = BTreeSet::new();
    let mut xml = Xml::new(archive.open_part(CONTENT_TYPES_PART)?, CONTENT_TYPES_PART);
    while take_event(remaining_events) {
        match xml.next_event()? {
            Event::Start(tag) if tag.local_name().as_ref() == "Override" => {
                let part = attribute(&tag, "PartName");
                let content_type = attribute(&tag, "ContentType");
                if let (Some(part), Some(content_type)) = (part, content_type)
                    && archive.has_part(&part)
                {
                    let (part, kind) = (part.to_ascii_lowercase(), last_name(&content_type));
                    content_types.insert(ContentType { part, kind });
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(content_types)
}

fn last_name(content_type: &str) -> String {
    let last_name = content_type.rsplit(['.', '/']).next().unwrap_or_default();
    last_name.strip_suffix("+xml").unwrap_or(last_name).to_ascii_lowercase()
}

/// Counts the elements of a part up to the first error.
fn count_elements<S: Source>(
    archive: &Archive<S>,
    part: &str,
    remaining_events: &mut u64,
) -> NotImported
where
    S::Stream: Seek,
{
    let Ok(reader) = archive.open_part(part) else { return NotImported::default() };
    let mut xml = Xml::noting(reader, part, |tag, not_imported| {
        let omission = match tag.local_name().as_ref() {
            "comment" => Omission::Comments,
            "pic" => Omission::Pictures,
            "sp" | "cxnSp" => Omission::Shapes,
            "connection" => Omission::DataConnections,
            _ => return,
        };
        not_imported.add(omission, 1);
    });
    read_to_end(&mut xml, remaining_events);
    xml.not_imported
}

fn read_to_end<R: Read>(xml: &mut Xml<R>, remaining_events: &mut u64) {
    while take_event(remaining_events) {
        match xml.next_event() {
            Err(_) | Ok(Event::Eof) => return,
            Ok(_) => {}
        }
    }
}

fn take_event(remaining_events: &mut u64) -> bool {
    let is_left = *remaining_events > 0;
    *remaining_events = remaining_events.saturating_sub(1);
    is_left
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in parts {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn events_of_all_parts_are_bounded() {
        let bytes = archive(&[
            (
                "[Content_Types].xml",
                "<Types><Override PartName=\"/xl/comments1.xml\" ContentType=\"a/b.comments+xml\"/></Types>",
            ),
            ("xl/comments1.xml", "<comments><comment/><comment/></comments>"),
        ]);
        let archive = Archive::open(bytes.as_slice()).unwrap();
        let comments = |max_events| count_parts_within(&archive, max_events).to_string();
        // Five events of the content types; then each element has two.
        assert_eq!(comments(5 + 2), "1 comment");
        assert_eq!(comments(5 + 3), "1 comment");
        assert_eq!(comments(5 + 4), "2 comments");
        assert_eq!(comments(MAX_EVENTS), "2 comments");
    }

    #[test]
    fn a_part_that_is_listed_twice_or_damaged_counts_once() {
        let entry = "<Override PartName=\"/xl/Drawings/d.xml\" ContentType=\"a/b.drawing+xml\"/>";
        let missing = "<Override PartName=\"/xl/c.xml\" ContentType=\"a/b.chart+xml\"/>";
        let types = format!("<Types>{entry}{entry}{missing}</Types>");
        let bytes = archive(&[
            ("[Content_Types].xml", &types),
            ("xl/drawings/d.xml", "<d><xdr:sp/><xdr:pic/></e>"),
            ("xl/vbaProject.bin", ""),
            ("xl/embeddings/x.bin", ""),
        ]);
        let counts = count_other_parts(&Archive::open(bytes.as_slice()).unwrap());
        assert_eq!(
            counts.to_string(),
            "1 picture, 1 shape, 1 control or embedded object, 1 macro project"
        );
        let no_types = archive(&[("xl/vbaProject.bin", "")]);
        let counts = count_other_parts(&Archive::open(no_types.as_slice()).unwrap());
        assert_eq!(counts.to_string(), "1 macro project");
    }
}
