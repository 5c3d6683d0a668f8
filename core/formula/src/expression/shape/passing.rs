//! Which functions return one value for several cells.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The letters of functions whose arguments can select several cells of a single cell.
pub(super) const RESIZING: &str = "sssss";

/// Functions, by how the number of cells of their arguments affects that of the result.
///
/// A letter describes an argument. `s`: if it has several cells, the result has. `w`: the function
/// takes it whole and returns one value. The letters after `|` repeat for all remaining arguments.
/// Without `|`, the last letter repeats. `*` describes functions that can return several cells for
/// single cells. Other functions have the letter `s`.
const PASSING: [(&str, &str); 18] = [
    (
        "*",
        "BYCOL BYROW CHOOSECOLS CHOOSEROWS EXPAND FREQUENCY HSTACK INDIRECT LINEST LOGEST MAKEARRAY \
         MAP MODE.MULT MUNIT RANDARRAY SCAN SEQUENCE TEXTSPLIT VSTACK WRAPCOLS WRAPROWS",
    ),
    (
        "w",
        "AND AREAS AVEDEV AVERAGE AVERAGEA CHISQ.TEST CHITEST COLUMNS CONCAT CORREL COUNT COUNTA \
         COUNTBLANK COVAR COVARIANCE.P COVARIANCE.S DEVSQ F.TEST FORMULATEXT FTEST GCD GEOMEAN \
         HARMEAN IMPRODUCT IMSUM INTERCEPT ISFORMULA ISOMITTED ISREF KURT LCM MAX MAXA MDETERM \
         MEDIAN MIN MINA MODE MODE.SNGL MULTINOMIAL N OR PEARSON PERCENTOF PRODUCT ROWS RSQ SHEET \
         SHEETS SKEW SKEW.P SLOPE STDEV STDEV.P STDEV.S STDEVA STDEVP STDEVPA STEYX SUM SUMPRODUCT \
         SUMSQ SUMX2MY2 SUMX2PY2 SUMXMY2 T TYPE VAR VAR.P VAR.S VARA VARP VARPA XOR",
    ),
    ("sw", "CELL FORECAST FORECAST.LINEAR FVSCHEDULE LOOKUP NPV SUBTOTAL XNPV"),
    ("ssw", "AGGREGATE NETWORKDAYS WORKDAY"),
    ("sssw", "NETWORKDAYS.INTL SERIESSUM WORKDAY.INTL"),
    ("sws", "HLOOKUP MATCH RANK RANK.AVG RANK.EQ REDUCE VLOOKUP XMATCH"),
    (
        "ws",
        "ARRAYTOTEXT COUNTIF IRR LARGE MIRR PERCENTILE PERCENTILE.EXC PERCENTILE.INC PERCENTRANK \
         PERCENTRANK.EXC PERCENTRANK.INC QUARTILE QUARTILE.EXC QUARTILE.INC SMALL TRIMMEAN Z.TEST \
         ZTEST",
    ),
    ("wws", "PROB T.TEST TTEST XIRR"),
    (
        "wsw",
        "AVERAGEIF DAVERAGE DCOUNT DCOUNTA DGET DMAX DMIN DPRODUCT DSTDEV DSTDEVP DSUM DVAR DVARP \
         SUMIF",
    ),
    ("|ws", "COUNTIFS"),
    ("w|ws", "AVERAGEIFS MAXIFS MINIFS SUMIFS"),
    ("ws|w", "TEXTJOIN"),
    ("swsssw", "TEXTAFTER TEXTBEFORE"),
    // The shapes of these calls have more rules.
    ("wsss", "INDEX"),
    (RESIZING, "OFFSET REGEXEXTRACT"),
    ("w", "COLUMN ROW"),
    ("wwss", "GROWTH TREND"),
    ("swwsss", "XLOOKUP"),
];

/// Returns the letters of a function.
pub(super) fn passing(function: &str) -> &'static str {
    static FUNCTIONS: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let functions = FUNCTIONS.get_or_init(|| {
        let names = |(letters, names): (_, &'static str)| {
            names.split_ascii_whitespace().map(move |name| (name, letters))
        };
        PASSING.into_iter().flat_map(names).collect()
    });
    functions.get(function).copied().unwrap_or("s")
}

/// Returns the letter of each argument of a function with these letters.
pub(super) fn letters_of_arguments(letters: &str) -> impl Iterator<Item = u8> + '_ {
    let last = letters.get(letters.len().saturating_sub(1)..).unwrap_or_default();
    let (fixed, repeated) = letters.split_once('|').unwrap_or((letters, last));
    fixed.bytes().chain(repeated.bytes().cycle())
}
