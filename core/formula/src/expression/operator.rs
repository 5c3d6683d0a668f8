//! Operators and their precedence.

/// A prefix operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrefixOperator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `@`, the implicit intersection operator. It selects the value of a range that is in the same
    /// row or column as the formula.
    ImplicitIntersection,
}

/// A postfix operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PostfixOperator {
    /// `%`
    Percent,
    /// `#`, the spill operator. `A1#` is the range that the array formula in `A1` spills into.
    Spill,
}

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// The range operator: a `:` with a computed operand, as in `A1:INDEX(B:B,3)`.
    Range,
    /// The intersection operator: spaces between two references.
    Intersection,
    /// The union operator: a `,` between two references in parentheses.
    Union,
    /// `^`
    Power,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `&`
    Concatenate,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// Operator precedence, in ascending order. Operators of equal precedence are left-associative.
/// Prefix operators have a higher precedence than `^`, so `-2^2` is 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precedence {
    Comparison,
    Concatenation,
    Sum,
    Product,
    Power,
    Percent,
    Prefix,
    Union,
    Intersection,
    Range,
}

impl BinaryOperator {
    /// Returns the binary operator with this text, or `None` if there is none.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        Some(match text {
            ":" => Self::Range,
            "^" => Self::Power,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "+" => Self::Add,
            "-" => Self::Subtract,
            "&" => Self::Concatenate,
            "=" => Self::Equal,
            "<>" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    pub(super) fn precedence(self) -> Precedence {
        match self {
            Self::Range => Precedence::Range,
            Self::Intersection => Precedence::Intersection,
            Self::Union => Precedence::Union,
            Self::Power => Precedence::Power,
            Self::Multiply | Self::Divide => Precedence::Product,
            Self::Add | Self::Subtract => Precedence::Sum,
            Self::Concatenate => Precedence::Concatenation,
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual => Precedence::Comparison,
        }
    }
}
