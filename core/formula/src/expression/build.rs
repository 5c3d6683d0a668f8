//! Builds expression trees from tokens with the shunting-yard algorithm.

use std::ops::Range;

use cellar_base::limits::MAX_EXPRESSION_DEPTH;

use super::operator::{BinaryOperator, PostfixOperator, Precedence, PrefixOperator};
use super::several_sheets::several_sheets_node;
use super::{Constant, Expression, Node, NodeIndex};
use crate::reference::DELETED;
use crate::syntax::{SyntaxError, SyntaxProblem, Token, TokenKind, Unsupported, error_value_at};

/// Builds the expression tree of tokens that have passed the grammar check.
///
/// # Errors
/// Returns an error at the first operator, parenthesis or function call that is nested too deeply.
pub(crate) fn build_expression(text: &str, tokens: &[Token]) -> Result<Expression, SyntaxError> {
    let mut builder = Builder {
        text,
        nodes: Vec::with_capacity(tokens.len()),
        spans: Vec::with_capacity(tokens.len()),
        operands: Vec::new(),
        operator_stack: Vec::new(),
        called_function: None,
        array: None,
        is_after_value: false,
        is_after_parenthesis: false,
    };
    for token in tokens {
        builder.take(token)?;
        builder.is_after_parenthesis = token.kind == TokenKind::CloseParenthesis;
    }
    builder.apply_operators(Precedence::Comparison);
    Ok(Expression { nodes: builder.nodes, spans: builder.spans })
}

/// An item on the operator stack.
enum StackItem {
    /// A prefix operator whose operand is incomplete, and the position of the operator.
    Prefix(PrefixOperator, usize),
    /// A binary operator whose right operand is incomplete.
    Binary(BinaryOperator),
    /// An open parenthesis, and its position.
    Parenthesis(usize),
    Call {
        callee: Callee,
        /// Position of the callee.
        start: usize,
        /// Length of the operand stack before the arguments of the call.
        outer_operands: usize,
    },
}

enum Callee {
    Function(String),
    Result(NodeIndex),
}

/// The array constant that is being read.
#[derive(Default)]
struct ArrayParts {
    columns: Option<usize>,
    values: Vec<Constant>,
    is_negative: bool,
}

struct Builder<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    /// Byte range of each node in the text.
    spans: Vec<Range<usize>>,
    /// The operand stack: nodes without a parent node.
    operands: Vec<NodeIndex>,
    operator_stack: Vec<StackItem>,
    /// Function name whose opening parenthesis is the next token, and its position.
    called_function: Option<(String, usize)>,
    /// The array constant that is being read, and its position.
    array: Option<(ArrayParts, usize)>,
    is_after_value: bool,
    is_after_parenthesis: bool,
}

impl<'a> Builder<'a> {
    fn take(&mut self, token: &Token) -> Result<(), SyntaxError> {
        if self.array.is_some() {
            self.take_in_array(token);
            return Ok(());
        }
        match &token.kind {
            TokenKind::Start | TokenKind::Space | TokenKind::Semicolon | TokenKind::CloseArray => {
                Ok(())
            }
            TokenKind::Number | TokenKind::Text | TokenKind::Boolean | TokenKind::Error => {
                let constant = constant_of(token, self.text_of(token));
                self.take_value(token, Node::Constant(constant))
            }
            TokenKind::Reference(reference) => {
                self.take_value(token, Node::Reference(reference.clone()))
            }
            TokenKind::Name => {
                self.take_value(token, Node::Name(self.text_of(token).to_uppercase()))
            }
            TokenKind::Unsupported(kind) => {
                let node = unsupported_node(*kind, self.text_of(token));
                self.take_value(token, node)
            }
            TokenKind::Function => {
                self.start_intersection_after_value(token)?;
                self.called_function = Some((self.text_of(token).to_uppercase(), token.span.start));
                Ok(())
            }
            TokenKind::OpenParenthesis => self.open_parenthesis(token),
            TokenKind::CloseParenthesis => {
                self.close_parenthesis(token);
                Ok(())
            }
            TokenKind::OpenArray => {
                self.array = Some((ArrayParts::default(), token.span.start));
                Ok(())
            }
            TokenKind::Comma => self.take_comma(token),
            TokenKind::Operator => self.take_operator(token),
            TokenKind::At => self.take_prefix(token, PrefixOperator::ImplicitIntersection),
            TokenKind::Percent => {
                self.apply_operators(Precedence::Percent);
                self.take_postfix(token, PostfixOperator::Percent);
                Ok(())
            }
            TokenKind::Spill => {
                self.take_postfix(token, PostfixOperator::Spill);
                Ok(())
            }
        }
    }

    fn take_value(&mut self, token: &Token, node: Node) -> Result<(), SyntaxError> {
        self.start_intersection_after_value(token)?;
        self.push_operand(node, token.span.clone());
        Ok(())
    }

    /// Starts an intersection if the token directly follows a value.
    fn start_intersection_after_value(&mut self, token: &Token) -> Result<(), SyntaxError> {
        if self.is_after_value {
            self.take_binary(token, BinaryOperator::Intersection)?;
        }
        Ok(())
    }

    fn open_parenthesis(&mut self, token: &Token) -> Result<(), SyntaxError> {
        if let Some((function, start)) = self.called_function.take() {
            return self.open_call(token, Callee::Function(function), start);
        }
        if self.is_after_parenthesis
            && let Some(callee) = self.operands.pop()
        {
            let start = self.span_of(callee).start;
            return self.open_call(token, Callee::Result(callee), start);
        }
        self.start_intersection_after_value(token)?;
        self.push_operator(token, StackItem::Parenthesis(token.span.start))
    }

    fn open_call(
        &mut self,
        token: &Token,
        callee: Callee,
        start: usize,
    ) -> Result<(), SyntaxError> {
        let outer_operands = self.operands.len();
        self.is_after_value = false;
        self.push_operator(token, StackItem::Call { callee, start, outer_operands })
    }

    fn close_parenthesis(&mut self, token: &Token) {
        self.apply_operators(Precedence::Comparison);
        let end = token.span.end;
        match self.operator_stack.pop() {
            Some(StackItem::Call { callee, start, outer_operands }) => {
                if !self.is_after_value && self.operands.len() > outer_operands {
                    self.push_omitted(token);
                }
                let outer_operands = outer_operands.min(self.operands.len());
                let arguments = self.operands.split_off(outer_operands);
                let node = match callee {
                    Callee::Function(function) => Node::Call { function, arguments },
                    Callee::Result(callee) => Node::CallOf { callee, arguments },
                };
                self.push_operand(node, start..end);
            }
            Some(StackItem::Parenthesis(start)) => {
                if let Some(operand) = self.operands.last()
                    && let Some(span) = self.spans.get_mut(operand.0)
                {
                    *span = start..end;
                }
            }
            _ => {}
        }
        self.is_after_value = true;
    }

    fn take_comma(&mut self, token: &Token) -> Result<(), SyntaxError> {
        let is_in_parenthesis =
            |item: &&StackItem| matches!(item, StackItem::Parenthesis(_) | StackItem::Call { .. });
        let open = self.operator_stack.iter().rev().find(is_in_parenthesis);
        if matches!(open, Some(StackItem::Parenthesis(_))) {
            return self.take_binary(token, BinaryOperator::Union);
        }
        self.apply_operators(Precedence::Comparison);
        if !self.is_after_value {
            self.push_omitted(token);
        }
        self.is_after_value = false;
        Ok(())
    }

    fn take_operator(&mut self, token: &Token) -> Result<(), SyntaxError> {
        let text = self.text_of(token);
        if self.is_after_value
            && let Some(operator) = BinaryOperator::of_text(text)
        {
            return self.take_binary(token, operator);
        }
        let operator = if text == "-" { PrefixOperator::Minus } else { PrefixOperator::Plus };
        self.take_prefix(token, operator)
    }

    fn take_prefix(&mut self, token: &Token, operator: PrefixOperator) -> Result<(), SyntaxError> {
        self.push_operator(token, StackItem::Prefix(operator, token.span.start))
    }

    fn take_binary(&mut self, token: &Token, operator: BinaryOperator) -> Result<(), SyntaxError> {
        self.apply_operators(operator.precedence());
        self.is_after_value = false;
        self.push_operator(token, StackItem::Binary(operator))
    }

    fn take_postfix(&mut self, token: &Token, operator: PostfixOperator) {
        if let Some(operand) = self.operands.pop() {
            let span = self.span_of(operand).start..token.span.end;
            self.push_operand(Node::Postfix { operator, operand }, span);
        }
    }

    fn push_operator(&mut self, token: &Token, item: StackItem) -> Result<(), SyntaxError> {
        if self.operator_stack.len() >= MAX_EXPRESSION_DEPTH {
            let problem = SyntaxProblem::OperatorsTooDeep;
            return Err(SyntaxError::at(self.text, token.span.clone(), problem));
        }
        self.operator_stack.push(item);
        Ok(())
    }

    /// Pops and applies operators whose precedence is at least `precedence`, up to the last open
    /// parenthesis.
    fn apply_operators(&mut self, precedence: Precedence) {
        while let Some(item) = self.operator_stack.pop_if(|item| match item {
            StackItem::Prefix(..) => Precedence::Prefix >= precedence,
            StackItem::Binary(operator) => operator.precedence() >= precedence,
            StackItem::Parenthesis(_) | StackItem::Call { .. } => false,
        }) {
            self.apply(&item);
        }
    }

    fn apply(&mut self, item: &StackItem) {
        let Some(last) = self.operands.pop() else { return };
        let end = self.span_of(last).end;
        match *item {
            StackItem::Prefix(operator, start) => {
                self.push_operand(Node::Prefix { operator, operand: last }, start..end);
            }
            StackItem::Binary(operator) => {
                if let Some(left) = self.operands.pop() {
                    let span = self.span_of(left).start..end;
                    self.push_operand(Node::Binary { operator, left, right: last }, span);
                }
            }
            StackItem::Parenthesis(_) | StackItem::Call { .. } => {}
        }
    }

    fn push_operand(&mut self, node: Node, span: Range<usize>) {
        self.operands.push(NodeIndex(self.nodes.len()));
        self.nodes.push(node);
        self.spans.push(span);
        self.is_after_value = true;
    }

    /// Adds the omitted argument before a comma or closing parenthesis.
    fn push_omitted(&mut self, token: &Token) {
        self.push_operand(Node::Omitted, token.span.start..token.span.start);
    }

    fn span_of(&self, node: NodeIndex) -> Range<usize> {
        self.spans.get(node.0).cloned().unwrap_or_default()
    }

    fn take_in_array(&mut self, token: &Token) {
        let text = self.text_of(token);
        let Some((array, start)) = &mut self.array else { return };
        match &token.kind {
            TokenKind::Operator => array.is_negative = text == "-",
            TokenKind::Semicolon => array.end_row(),
            TokenKind::CloseArray => {
                array.end_row();
                let span = *start..token.span.end;
                let ArrayParts { columns, values, .. } = std::mem::take(array);
                self.array = None;
                self.push_operand(Node::Array { columns: columns.unwrap_or(1), values }, span);
            }
            TokenKind::Space | TokenKind::Comma => {}
            _ => {
                let constant = match constant_of(token, text) {
                    Constant::Number(number) if array.is_negative => Constant::Number(-number),
                    constant => constant,
                };
                array.values.push(constant);
                array.is_negative = false;
            }
        }
    }

    fn text_of(&self, token: &Token) -> &'a str {
        self.text.get(token.span.clone()).unwrap_or_default()
    }
}

impl ArrayParts {
    fn end_row(&mut self) {
        self.columns.get_or_insert(self.values.len());
    }
}

fn constant_of(token: &Token, text: &str) -> Constant {
    match token.kind {
        TokenKind::Number => Constant::Number(text.parse().unwrap_or_default()),
        TokenKind::Boolean => Constant::Boolean(text.eq_ignore_ascii_case("TRUE")),
        TokenKind::Text => {
            let inside = text.strip_prefix('"').and_then(|inside| inside.strip_suffix('"'));
            Constant::Text(inside.unwrap_or_default().replace("\"\"", "\""))
        }
        _ => Constant::Error(error_value_at(text).unwrap_or(DELETED)),
    }
}

fn unsupported_node(kind: Unsupported, text: &str) -> Node {
    match kind {
        Unsupported::Sheets => several_sheets_node(text),
        Unsupported::Table | Unsupported::File | Unsupported::SheetName => {
            Node::Unsupported { kind, text: text.to_owned() }
        }
    }
}
