//! Operators of formulas and the order in which they are applied.

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrefixOperator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `@`, which takes the value in the row or column of the formula.
    ImplicitIntersection,
}

/// An operator after its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PostfixOperator {
    /// `%`
    Percent,
    /// `#`, which refers to all cells that the array result of a cell extends to.
    Spill,
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `:` between references that are calculated, as in `A1:INDEX(B:B,3)`.
    Range,
    /// Spaces between two references, which take the cells that are in both.
    Intersection,
    /// `,` between two references in parentheses, which takes the cells of both.
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

/// How tightly an operator binds its operands. Operators that are equal are applied from left to
/// right. A sign binds more tightly than `^`, so `-2^2` is 4.
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
    /// Returns the operator with this text, or `None` if it is none that is written between values.
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
