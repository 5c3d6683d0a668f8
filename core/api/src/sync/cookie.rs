//! Pull cookies. The server returns a cookie that identifies the state of the client's view. The
//! client sends the cookie with the next pull.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// Supported schema versions of mutator arguments and patches. Replicache sends "" if an
/// application sets no version. Versions must never be removed, because clients send offline
/// mutations with the version at the time of the edit.
pub const SCHEMA_VERSIONS: [&str; 2] = ["", "1"];

const INCARNATION_DIGITS: usize = 8;
const POSITION_DIGITS: usize = 16;

/// State of a client's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookie {
    /// Id of the spreadsheet.
    pub log: LogId,
    /// Number of times that the tables had been restored when the newest entry was read.
    pub incarnation: u32,
    /// Position of the newest entry in the view.
    pub position: Position,
    /// Position of the snapshot that is part of the view. `None` if the view contains all entries
    /// since the first one.
    pub snapshot: Option<Position>,
}

/// A pull cookie as sent to clients, which must not interpret it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CookieView {
    /// Sort key of the cookie: the incarnation and the position, in hexadecimal. Replicache
    /// requires that cookies can be ordered.
    pub order: String,
    /// Id of the spreadsheet.
    pub spreadsheet: LogId,
    /// Position of the snapshot that is part of the view. Absent if the view contains all entries
    /// since the first one.
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

    /// Decodes a cookie. Returns `None` if the cookie was not created by [`Cookie::view`].
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
