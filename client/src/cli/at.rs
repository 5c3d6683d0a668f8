//! Positions that a user gives as a position or as a time.

use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_api::time::format_utc;
use cellar_api::wire::{EntryKind, EntryView, NotAPositionOrTime, PositionOrTime, ProblemKind};
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde::Serialize;

use super::advice::Advised;
use super::error::CliError;
use super::output::{Output, count};
use crate::text::escape;
use crate::{ClientError, Spreadsheet};

/// Maximum number of edits in `3 edits ago`, which is one page of the history.
const MAX_EDITS_AGO: u32 = MAX_PAGE_ENTRIES - 1;
/// The characters of a date in RFC 3339.
const DATE_LENGTH: usize = 10;

/// Value name in the help of options that take an [`At`].
pub(super) const AT: &str = "POSITION|TIME";

/// A position or a time, as given.
#[derive(Debug, Clone)]
pub(super) struct At {
    text: String,
    meaning: Meaning,
}

#[derive(Debug, Clone, Copy)]
enum Meaning {
    Absolute(PositionOrTime),
    /// Time from now, which is negative.
    FromNow(Span),
    /// The state before this number of newest edits. 0 is the newest state.
    EditsAgo(u32),
}

/// A position, and the time for which it was looked up, if any.
pub(super) struct FoundPosition {
    pub(super) position: Position,
    pub(super) time: Option<FoundTime>,
}

/// A given time, and the position of the last entry that is not later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct FoundTime {
    /// As given, such as `yesterday`.
    pub(super) given: String,
    /// In RFC 3339.
    pub(super) time: String,
    pub(super) position: Position,
    /// Time of the entry at the position, in seconds since the Unix epoch.
    pub(super) created_s: u64,
}

/// A JSON result, with the times that the command looked up.
#[derive(Serialize)]
pub(super) struct WithTimes<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    times: Vec<&'a FoundTime>,
}

impl From<Position> for FoundPosition {
    fn from(position: Position) -> Self {
        Self { position, time: None }
    }
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let meaning = match text.parse::<PositionOrTime>() {
            Ok(position_or_time) => Meaning::Absolute(position_or_time),
            Err(error @ NotAPositionOrTime::Other { .. }) => parse_in_words(text, &error)?,
            Err(error) => return Err(error.to_string()),
        };
        Ok(Self { text: text.to_owned(), meaning })
    }
}

/// `error` says why the text is neither a position nor an absolute time.
fn parse_in_words(text: &str, error: &NotAPositionOrTime) -> Result<Meaning, String> {
    let words = text.trim().to_lowercase();
    match words.as_str() {
        "now" | "latest" => return Ok(Meaning::EditsAgo(0)),
        "yesterday" => return Ok(Meaning::FromNow(Span::new().days(-1))),
        _ => {}
    }
    if let Some(edits) = parse_edits_ago(&words) {
        return edits.map(Meaning::EditsAgo);
    }
    match with_number(&words).parse::<Span>() {
        Ok(span) if span.is_negative() => Ok(Meaning::FromNow(span)),
        Ok(_) => Err(format!("`{text}` is not before now; write `{text} ago`")),
        Err(_) => Err(format!(
            "{error}, nor a time before now, such as `2 hours ago`, nor `3 edits ago`; write a time of today as \
             {}T09:30Z",
            today()
        )),
    }
}

/// Returns `None` if the text does not count edits.
fn parse_edits_ago(words: &str) -> Option<Result<u32, String>> {
    let text = with_number(words);
    let number = text.strip_suffix(" edits ago").or_else(|| text.strip_suffix(" edit ago"))?;
    Some(match number.parse::<u32>() {
        Ok(edits @ 0..=MAX_EDITS_AGO) => Ok(edits),
        _ => Err(format!(
            "`{number}` is not a number of edits from 0 to {MAX_EDITS_AGO}; `cellar history` lists the positions"
        )),
    })
}

/// Replaces `a` and `an`, as in `an hour ago`, by 1.
fn with_number(words: &str) -> String {
    let rest = words.strip_prefix("an ").or_else(|| words.strip_prefix("a "));
    rest.map_or_else(|| words.to_owned(), |rest| format!("1 {rest}"))
}

/// The date in UTC.
fn today() -> String {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    format_utc(now_s).chars().take(DATE_LENGTH).collect()
}

impl At {
    /// Returns `None` for a time.
    pub(super) fn position(&self) -> Option<Position> {
        match self.meaning {
            Meaning::Absolute(PositionOrTime::Position(position)) => Some(position),
            Meaning::Absolute(PositionOrTime::Time { .. })
            | Meaning::FromNow(_)
            | Meaning::EditsAgo(_) => None,
        }
    }

    /// Looks a time up in the log of a spreadsheet. A position is returned without a request.
    async fn find(&self, spreadsheet: &Spreadsheet) -> Result<FoundPosition, CliError> {
        let (unix_s, entry) = match self.meaning {
            Meaning::Absolute(PositionOrTime::Position(position)) => return Ok(position.into()),
            Meaning::Absolute(PositionOrTime::Time { unix_s }) => {
                (unix_s, entry_at_time(spreadsheet, unix_s).await?)
            }
            Meaning::FromNow(span) => {
                let unix_s = self.before(SystemTime::now(), span)?;
                (unix_s, entry_at_time(spreadsheet, unix_s).await?)
            }
            Meaning::EditsAgo(edits) => {
                let entry = entry_before_newest_edits(spreadsheet, edits).await?;
                (entry.created_s, entry)
            }
        };
        let time = FoundTime {
            given: self.text.clone(),
            time: format_utc(unix_s),
            position: entry.position,
            created_s: entry.created_s,
        };
        Ok(FoundPosition { position: entry.position, time: Some(time) })
    }

    /// Like [`At::find`], and prints what a time stands for.
    pub(super) async fn find_and_print(
        &self,
        spreadsheet: &Spreadsheet,
        output: &Output,
    ) -> Result<FoundPosition, CliError> {
        let found = self.find(spreadsheet).await?;
        if let Some(time) = &found.time {
            output.print_note(time.note());
        }
        Ok(found)
    }

    /// Returns the time in seconds since the Unix epoch.
    fn before(&self, now: SystemTime, span: Span) -> Result<u64, CliError> {
        add_span(now, span).ok_or_else(|| {
            CliError::usage(
                format!("`{}` is before the year 1970", self.text),
                "`cellar history` lists the positions with their times",
            )
        })
    }
}

async fn entry_at_time(spreadsheet: &Spreadsheet, unix_s: u64) -> Result<EntryView, CliError> {
    let time = UNIX_EPOCH + Duration::from_secs(unix_s);
    let is_before_creation = |error: &ClientError| matches!(error, ClientError::Problem { problem, .. } if problem.kind == ProblemKind::UnknownPosition);
    spreadsheet.entry_at_time(time).await.map_err(|error| {
        if is_before_creation(&error) {
            CliError::BeforeCreation { source: Advised(error) }
        } else {
            error.into()
        }
    })
}

/// Returns the newest entry before the last `edits` entries with edits.
async fn entry_before_newest_edits(
    spreadsheet: &Spreadsheet,
    edits: u32,
) -> Result<EntryView, CliError> {
    let mut pages = spreadsheet.history_pages(None, Some(edits.saturating_add(1)));
    let mut passed = 0;
    while let Some(page) = pages.try_next().await? {
        for entry in page.entries {
            if passed == edits {
                return Ok(entry);
            }
            if entry.kind == EntryKind::Edits {
                passed += 1;
            }
        }
    }
    Err(CliError::usage(
        format!("the spreadsheet has only {}", count(passed, "edit", "edits")),
        "the first state is at position 0.0; `cellar history` lists the positions",
    ))
}

/// Like [`At::find_and_print`] for an optional argument.
pub(super) async fn find_optional(
    at: Option<&At>,
    spreadsheet: &Spreadsheet,
    output: &Output,
) -> Result<Option<FoundPosition>, CliError> {
    match at {
        Some(at) => at.find_and_print(spreadsheet, output).await.map(Some),
        None => Ok(None),
    }
}

/// Like [`find_optional`] for the start of a history. Returns `None` for a time before the
/// spreadsheet was created, because everything is after it.
pub(super) async fn find_start(
    at: Option<&At>,
    spreadsheet: &Spreadsheet,
    output: &Output,
) -> Result<Option<FoundPosition>, CliError> {
    match find_optional(at, spreadsheet, output).await {
        Err(CliError::BeforeCreation { .. }) => Ok(None),
        found => found,
    }
}

/// Days have 24 hours, and months and years are those of the calendar in UTC. Returns `None` if the
/// result is before 1970.
fn add_span(now: SystemTime, span: Span) -> Option<u64> {
    let now_s = now.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let now = Timestamp::from_second(i64::try_from(now_s).ok()?).ok()?.to_zoned(TimeZone::UTC);
    let time = now.checked_add(span).ok()?.timestamp();
    u64::try_from(time.as_second()).ok()
}

impl FoundTime {
    fn note(&self) -> String {
        let Self { given, time, position, created_s } = self;
        let created = format_utc(*created_s);
        let is_same = given == time || *time == created;
        let time = if is_same { String::new() } else { format!(" is {time}") };
        let given = escape(given);
        format!("{given}{time}: position {position}, written at {created}.")
    }
}

/// Adds a list `times` to a JSON result, unless no time was looked up.
pub(super) fn with_times<'a, T>(
    result: &'a T,
    found: impl IntoIterator<Item = Option<&'a FoundPosition>>,
) -> WithTimes<'a, T> {
    let times = found.into_iter().flatten().filter_map(|found| found.time.as_ref()).collect();
    WithTimes { result, times }
}

/// Prints the result of [`with_times`].
pub(super) fn print_json_with_times<'a, T: Serialize>(
    output: &Output,
    result: &'a T,
    found: impl IntoIterator<Item = Option<&'a FoundPosition>>,
) -> Result<(), CliError> {
    Ok(output.print_json(&with_times(result, found))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-24T00:14:00Z.
    const NOW_S: u64 = 1_795_479_240;

    fn time_of(text: &str) -> String {
        let now = UNIX_EPOCH + Duration::from_secs(NOW_S);
        let at = text.parse::<At>().unwrap();
        match at.meaning {
            Meaning::Absolute(absolute) => absolute.to_string(),
            Meaning::FromNow(span) => format_utc(at.before(now, span).unwrap()),
            Meaning::EditsAgo(edits) => format!("{edits} edits ago"),
        }
    }

    #[test]
    fn takes_positions_and_times() {
        let most = format!("{MAX_EDITS_AGO} edits ago");
        let most = most.as_str();
        for (text, meaning) in [
            ("0.42", "0.42"),
            ("2026-11-24T00:14Z", "2026-11-24T00:14:00Z"),
            ("2026-11-24T01:14+01:00", "2026-11-24T00:14:00Z"),
            ("yesterday", "2026-11-23T00:14:00Z"),
            ("Yesterday", "2026-11-23T00:14:00Z"),
            ("2 hours ago", "2026-11-23T22:14:00Z"),
            ("90 seconds ago", "2026-11-24T00:12:30Z"),
            ("1h 30m ago", "2026-11-23T22:44:00Z"),
            ("3 days ago", "2026-11-21T00:14:00Z"),
            ("1 week ago", "2026-11-17T00:14:00Z"),
            ("1 month ago", "2026-10-24T00:14:00Z"),
            ("2 years ago", "2024-11-24T00:14:00Z"),
            ("an hour ago", "2026-11-23T23:14:00Z"),
            ("A minute ago", "2026-11-24T00:13:00Z"),
            ("now", "0 edits ago"),
            ("Latest", "0 edits ago"),
            ("an edit ago", "1 edits ago"),
            ("3 edits ago", "3 edits ago"),
            (most, most),
        ] {
            assert_eq!(time_of(text), meaning, "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_a_text() {
        let form_of_today = format!("write a time of today as {}T09:30Z", today());
        let too_many = format!("{} edits ago", MAX_EDITS_AGO + 1);
        for (text, why) in [
            ("2 hours", "write `2 hours ago`"),
            ("2026-11-24", "is a day"),
            ("2026-11-24T00:14", "append Z for UTC"),
            ("tomorrow", "such as `2 hours ago`"),
            ("9am", form_of_today.as_str()),
            (too_many.as_str(), "is not a number of edits"),
            ("-1 edits ago", "is not a number of edits"),
            ("", "such as `2 hours ago`"),
            ("0.", "such as 0.42"),
        ] {
            let error = text.parse::<At>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let too_old = "100 years ago".parse::<At>().unwrap();
        let now = UNIX_EPOCH + Duration::from_secs(NOW_S);
        let Meaning::FromNow(span) = too_old.meaning else { panic!("{too_old:?}") };
        assert!(matches!(too_old.before(now, span), Err(CliError::Usage { .. })));
    }

    #[test]
    fn a_note_has_the_time_and_the_position() {
        let position = Position::new(0, 42).unwrap();
        let found = FoundTime {
            given: "yesterday".to_owned(),
            time: "2026-11-23T00:14:00Z".to_owned(),
            position,
            created_s: NOW_S - 2 * 86_400,
        };
        let note =
            "yesterday is 2026-11-23T00:14:00Z: position 0.42, written at 2026-11-22T00:14:00Z.";
        assert_eq!(found.note(), note);
        let exact = FoundTime { given: found.time.clone(), ..found.clone() };
        assert!(
            exact.note().starts_with("2026-11-23T00:14:00Z: position 0.42"),
            "{}",
            exact.note()
        );
        let found = FoundPosition { position, time: Some(found) };
        let reply = serde_json::json!({ "id": 1 });
        let with_times = |found: &[&FoundPosition]| {
            let times = found.iter().filter_map(|found| found.time.as_ref()).collect();
            serde_json::to_value(WithTimes { result: &reply, times }).unwrap()
        };
        assert_eq!(with_times(&[]), reply);
        assert_eq!(with_times(&[&found])["times"][0]["time"], "2026-11-23T00:14:00Z");
    }
}
