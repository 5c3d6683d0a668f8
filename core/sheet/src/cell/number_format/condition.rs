//! Conditions of sections, such as `[>=100]`.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Condition {
    pub(super) comparison: Comparison,
    pub(super) operand: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Condition {
    pub(super) const NEGATIVE: Self = Self { comparison: Comparison::Less, operand: 0.0 };
    pub(super) const POSITIVE: Self = Self { comparison: Comparison::Greater, operand: 0.0 };
    pub(super) const NOT_NEGATIVE: Self =
        Self { comparison: Comparison::GreaterOrEqual, operand: 0.0 };

    /// Parses the text between brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        const OPERATORS: [(&str, Comparison); 6] = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<>", Comparison::NotEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
            ("=", Comparison::Equal),
        ];
        let parsed = OPERATORS.into_iter().find_map(|(operator, comparison)| {
            Some((text.strip_prefix(operator)?.trim(), comparison))
        });
        let (operand_text, comparison) = parsed?;
        let operand: f64 = operand_text.parse().ok()?;
        if operand.is_finite() { Some(Self { comparison, operand }) } else { None }
    }

    pub(super) fn matches(self, number: f64) -> bool {
        match self.comparison {
            Comparison::Less => number < self.operand,
            Comparison::LessOrEqual => number <= self.operand,
            Comparison::Equal => number == self.operand,
            Comparison::NotEqual => number != self.operand,
            Comparison::GreaterOrEqual => number >= self.operand,
            Comparison::Greater => number > self.operand,
        }
    }

    /// Whether only negative numbers match. Their sign is not displayed, as in the section for
    /// negative numbers.
    pub(super) fn is_only_negative(self) -> bool {
        match self.comparison {
            Comparison::Less => self.operand <= 0.0,
            Comparison::LessOrEqual | Comparison::Equal => self.operand < 0.0,
            Comparison::NotEqual | Comparison::GreaterOrEqual | Comparison::Greater => false,
        }
    }
}
