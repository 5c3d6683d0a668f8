//! Names of functions that Excel has added since 2010. In the formulas of xlsx files they have a
//! prefix, which Excel does not show: `_xlfn.`, and for a few functions `_xlfn._xlws.`.

use super::formula::quoted_token_bytes;

const PREFIX: &str = "_xlfn.";
const SECOND_PREFIX: &str = "_xlws.";
/// Functions with both prefixes.
const TWICE_PREFIXED: [&str; 2] = ["FILTER", "SORT"];

/// Functions whose result may be an array that extends into other cells.
const DYNAMIC: [&str; 28] = [
    "ANCHORARRAY",
    "BYCOL",
    "BYROW",
    "CHOOSECOLS",
    "CHOOSEROWS",
    "DROP",
    "EXPAND",
    "FILTER",
    "HSTACK",
    "LAMBDA",
    "MAKEARRAY",
    "MAP",
    "RANDARRAY",
    "REDUCE",
    "SCAN",
    "SEQUENCE",
    "SINGLE",
    "SORT",
    "SORTBY",
    "TAKE",
    "TEXTSPLIT",
    "TOCOL",
    "TOROW",
    "UNIQUE",
    "VSTACK",
    "WRAPCOLS",
    "WRAPROWS",
    "XLOOKUP",
];

/// Other functions with the prefix.
const PREFIXED: [&str; 128] = [
    "ACOT",
    "ACOTH",
    "AGGREGATE",
    "ARABIC",
    "ARRAYTOTEXT",
    "BASE",
    "BETA.DIST",
    "BETA.INV",
    "BINOM.DIST",
    "BINOM.DIST.RANGE",
    "BINOM.INV",
    "BITAND",
    "BITLSHIFT",
    "BITOR",
    "BITRSHIFT",
    "BITXOR",
    "CEILING.MATH",
    "CEILING.PRECISE",
    "CHISQ.DIST",
    "CHISQ.DIST.RT",
    "CHISQ.INV",
    "CHISQ.INV.RT",
    "CHISQ.TEST",
    "COMBINA",
    "CONCAT",
    "CONFIDENCE.NORM",
    "CONFIDENCE.T",
    "COT",
    "COTH",
    "COVARIANCE.P",
    "COVARIANCE.S",
    "CSC",
    "CSCH",
    "DAYS",
    "DECIMAL",
    "ERF.PRECISE",
    "ERFC.PRECISE",
    "EXPON.DIST",
    "F.DIST",
    "F.DIST.RT",
    "F.INV",
    "F.INV.RT",
    "F.TEST",
    "FIELDVALUE",
    "FILTERXML",
    "FLOOR.MATH",
    "FLOOR.PRECISE",
    "FORECAST.ETS",
    "FORECAST.ETS.CONFINT",
    "FORECAST.ETS.SEASONALITY",
    "FORECAST.ETS.STAT",
    "FORECAST.LINEAR",
    "FORMULATEXT",
    "GAMMA",
    "GAMMA.DIST",
    "GAMMA.INV",
    "GAMMALN.PRECISE",
    "GAUSS",
    "HYPGEOM.DIST",
    "IFNA",
    "IFS",
    "IMAGE",
    "IMCOSH",
    "IMCOT",
    "IMCSC",
    "IMCSCH",
    "IMSEC",
    "IMSECH",
    "IMSINH",
    "IMTAN",
    "ISFORMULA",
    "ISOMITTED",
    "ISOWEEKNUM",
    "LET",
    "LOGNORM.DIST",
    "LOGNORM.INV",
    "MAXIFS",
    "MINIFS",
    "MODE.MULT",
    "MODE.SNGL",
    "MUNIT",
    "NEGBINOM.DIST",
    "NORM.DIST",
    "NORM.INV",
    "NORM.S.DIST",
    "NORM.S.INV",
    "NUMBERVALUE",
    "PDURATION",
    "PERCENTILE.EXC",
    "PERCENTILE.INC",
    "PERCENTRANK.EXC",
    "PERCENTRANK.INC",
    "PERMUTATIONA",
    "PHI",
    "POISSON.DIST",
    "QUARTILE.EXC",
    "QUARTILE.INC",
    "QUERYSTRING",
    "RANK.AVG",
    "RANK.EQ",
    "RRI",
    "SEC",
    "SECH",
    "SHEET",
    "SHEETS",
    "SKEW.P",
    "STDEV.P",
    "STDEV.S",
    "SWITCH",
    "T.DIST",
    "T.DIST.2T",
    "T.DIST.RT",
    "T.INV",
    "T.INV.2T",
    "T.TEST",
    "TEXTAFTER",
    "TEXTBEFORE",
    "TEXTJOIN",
    "UNICHAR",
    "UNICODE",
    "VALUETOTEXT",
    "VAR.P",
    "VAR.S",
    "WEBSERVICE",
    "WEIBULL.DIST",
    "XMATCH",
    "XOR",
    "Z.TEST",
];

/// A formula in which the names of functions have their prefixes.
pub(crate) struct PrefixedFormula {
    pub(crate) text: String,
    /// Whether the result may extend into other cells.
    pub(crate) is_dynamic: bool,
}

/// Adds the prefixes that a formula lacks. The formula has no `=` at its start.
pub(crate) fn with_prefixes(formula: &str) -> PrefixedFormula {
    let mut is_dynamic = false;
    let text = map_functions(formula, |name, prefixed_formula| {
        is_dynamic |= is_dynamic_function(shown_name(name).unwrap_or(name));
        if is_prefixed(name) {
            prefixed_formula.push_str(PREFIX);
        }
        if TWICE_PREFIXED.contains(&name) {
            prefixed_formula.push_str(SECOND_PREFIX);
        }
        prefixed_formula.push_str(name);
    });
    PrefixedFormula { text, is_dynamic }
}

/// Removes the prefixes that [`with_prefixes`] adds.
pub(crate) fn without_prefixes(formula: &str) -> String {
    map_functions(formula, |name, shown_formula| {
        let shown_name = shown_name(name).filter(|name| is_prefixed(name));
        shown_formula.push_str(shown_name.unwrap_or(name));
    })
}

/// Returns the name without its prefixes, or `None` if it has none.
fn shown_name(name: &str) -> Option<&str> {
    let after_prefix = name.strip_prefix(PREFIX)?;
    Some(after_prefix.strip_prefix(SECOND_PREFIX).unwrap_or(after_prefix))
}

/// Returns whether the result of a function may be an array that extends into other cells.
fn is_dynamic_function(name: &str) -> bool {
    DYNAMIC.binary_search(&name).is_ok()
}

fn is_prefixed(name: &str) -> bool {
    is_dynamic_function(name) || PREFIXED.binary_search(&name).is_ok()
}

/// Copies a formula. `push_function` appends the name of each function.
fn map_functions(formula: &str, mut push_function: impl FnMut(&str, &mut String)) -> String {
    let mut copy = String::with_capacity(formula.len());
    let mut unread = formula;
    while let Some(first) = unread.chars().next() {
        let token_bytes = match first {
            '"' | '\'' => quoted_token_bytes(unread, first),
            _ if is_name_character(first) => {
                unread.find(|next| !is_name_character(next)).unwrap_or(unread.len())
            }
            _ => first.len_utf8(),
        };
        let Some((token, after_token)) = unread.split_at_checked(token_bytes) else { break };
        let is_function = is_name_character(first) && after_token.starts_with('(');
        if is_function {
            push_function(token, &mut copy);
        } else {
            copy.push_str(token);
        }
        unread = after_token;
    }
    copy.push_str(unread);
    copy
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_added_and_removed() {
        assert!(DYNAMIC.is_sorted() && PREFIXED.is_sorted());
        for (shown, prefixed, dynamic) in [
            ("SUM(A1)+1", "SUM(A1)+1", false),
            ("IFS(A1,XOR(B1,C1))", "_xlfn.IFS(A1,_xlfn.XOR(B1,C1))", false),
            ("SORT(UNIQUE(A:A))", "_xlfn._xlws.SORT(_xlfn.UNIQUE(A:A))", true),
            ("FILTER(A:A,1)", "_xlfn._xlws.FILTER(A:A,1)", true),
            ("\"IFS(\"\"IFS(\"&'IFS('!A1&IFS", "\"IFS(\"\"IFS(\"&'IFS('!A1&IFS", false),
            ("MYIFS(1)+ä.IFS(2)", "MYIFS(1)+ä.IFS(2)", false),
        ] {
            for formula in [shown, prefixed] {
                let PrefixedFormula { text, is_dynamic } = with_prefixes(formula);
                assert_eq!((text.as_str(), is_dynamic), (prefixed, dynamic), "{formula}");
            }
            assert_eq!(without_prefixes(prefixed), shown);
        }
        // Nothing would add these prefixes again.
        for formula in ["_xlfn.NEWER(1)", "_xlfn._xlws.IFSX(1)", "_xlfn.IFS", "\"", "'"] {
            assert_eq!(without_prefixes(formula), formula);
        }
    }
}
