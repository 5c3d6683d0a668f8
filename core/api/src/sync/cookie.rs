//! Pull cookies. A cookie describes which state of the log a client's view shows. The client sends
//! it with the next pull.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// Supported versions of the schema of mutator arguments and patches. Replicache sends "" if an
/// application sets no version. A version must never be removed: a client sends mutations made
/// offline with the version under which they were made.
pub const SCHEMA_VERSIONS: [&str; 2] = ["", "1"];

const INCARNATION_DIGITS: usize = 8;
const POSITION_DIGITS: usize = 16;

/// State of a client's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookie {
    /// Id of the spreadsheet.
    pub log: LogId,
    /// Incarnation of the tables at the position.
    pub incarnation: u32,
    /// Position of the newest entry in the view.
    pub position: Position,
    /// Position of the Snapshot entry with whose root (snapshot) the view starts. `None` if the
    /// view starts with the first entry.
    pub snapshot: Option<Position>,
}

/// Encoded form of a cookie. Clients do not interpret it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CookieView {
    /// Incarnation and position in hexadecimal. Replicache requires a value by which it can order
    /// cookies. This value increases with every entry and never decreases.
    pub order: String,
    /// Id of the spreadsheet.
    pub spreadsheet: LogId,
    /// Position of the Snapshot entry with whose root (snapshot) the view starts. Absent if the
    /// view starts with the first entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Position>,
}

impl Cookie {
    /// Encodes the cookie.
    #[must_use]
    pub fn view(&self) -> CookieView {
        let order = format!("{:08x}{:016x}", self.incarnation, self.position.pack());
        CookieView { order, spreadsheet: self.log, snapshot: self.snapshot }
    }

    /// Decodes a cookie. Returns `None` if [`Cookie::view`] could not have produced the cookie.
    #[must_use]
    pub fn read(view: &CookieView) -> Option<Self> {
        let CookieView { order, spreadsheet: log, snapshot } = view;
        if order.len() != INCARNATION_DIGITS + POSITION_DIGITS {
            return None;
        }
        let (incarnation, position) = order.split_at_checked(INCARNATION_DIGITS)?;
        let incarnation = u32::from_str_radix(incarnation, 16).ok()?;
        let position = Position::unpack(u64::from_str_radix(position, 16).ok()?).ok()?;
        let cookie = Self { log: *log, incarnation, position, snapshot: *snapshot };
        (cookie.view() == *view && *snapshot <= Some(position)).then_some(cookie)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use cellar_log::testing::support::log;

    fn cookie(incarnation: u32, segment: u32, num: u32) -> Cookie {
        let position = Position::new(segment, num).unwrap();
        Cookie { log: log(), incarnation, position, snapshot: Some(Position::FIRST) }
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_incarnations_and_positions(
            a in (any::<u32>(), 0..1_u32 << 21, any::<u32>()),
            b in (any::<u32>(), 0..1_u32 << 21, any::<u32>()),
        ) {
            let (one, other) = (cookie(a.0, a.1, a.2).view(), cookie(b.0, b.1, b.2).view());
            prop_assert_eq!(one.order.cmp(&other.order), a.cmp(&b));
            prop_assert_eq!(Cookie::read(&one), Some(cookie(a.0, a.1, a.2)));
        }

        #[test]
        fn any_text_is_a_cookie_or_none(order in "\\PC*") {
            let _ = Cookie::read(&CookieView { order, ..cookie(0, 0, 0).view() });
        }
    }

    #[test]
    fn rejects_other_cookies() {
        let view = cookie(1, 2, 0xabc).view();
        let with =
            |order: &str| Cookie::read(&CookieView { order: order.to_owned(), ..view.clone() });
        assert_eq!(with(&view.order), Some(cookie(1, 2, 0xabc)));
        let upper = view.order.to_uppercase();
        let behind = |skipped| view.order.chars().skip(skipped).collect::<String>();
        let (short, plus, wide) = (behind(1), format!("+{}", behind(1)), format!("é{}", behind(2)));
        let beyond = format!("00000001{:016x}", u64::MAX);
        for bad in ["", "7", &short, &upper, &plus, &wide, &beyond] {
            assert_eq!(with(bad), None, "{bad}");
        }
        let later = Position::new(2, 0xabd).unwrap();
        assert_eq!(Cookie::read(&CookieView { snapshot: Some(later), ..view }), None);
    }
}
