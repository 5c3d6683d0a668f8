//! Formats the difference between two templates as text, as JSON, or as Markdown for pull requests.

mod markdown;
mod old;
mod report;
mod revision;
mod text;
mod words;

#[cfg(test)]
mod samples;

pub(crate) use markdown::{format_as_markdown, marker};
pub(crate) use old::OldTemplate;
pub(crate) use report::Report;
pub(crate) use text::format_as_text;
