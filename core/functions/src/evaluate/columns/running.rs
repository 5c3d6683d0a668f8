//! Formulas that read the cell above their own, such as a running total.

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Value;

use super::cells::{Builder, Cells};
use super::{Rows, RunEvaluator, number_value, value_of};
use crate::evaluate::cell_value;
use crate::evaluate::operators::calculate;
use crate::expression::{Chain, Coordinate, Expression, Link, Node, Operator};

/// An operand of the chain.
enum RunningOperand {
    /// The result of the cell above.
    Above,
    Cells(Cells),
}

impl RunningOperand {
    fn value(&self, above: &Value, index: usize) -> Value {
        match self {
            Self::Above => above.clone(),
            Self::Cells(cells) => cells.value(index),
        }
    }
}

/// An operator with its right operand.
enum RunningLink {
    Operator(Operator, RunningOperand),
    Percent,
}

impl RunEvaluator<'_> {
    /// Evaluates a chain of operators in which some operands are the cell above.
    pub(super) fn evaluate_running(&self, expression: Expression<'_>) -> Option<Cells> {
        let Node::Chain(chain) = expression.node() else { return None };
        let first = self.running_operand(expression.at(chain.first))?;
        let links = self.running_links(chain, expression)?;
        let own = self.context.cell;
        let above = CellName { row: own.row.checked_sub(1)?, column: own.column };
        let mut above = self.source.cell(self.context.sheet, above);
        if self.source.is_interrupted() {
            return None;
        }
        let rows = self.row_count as usize;
        self.costs.add_steps(rows, crate::number::count(chain.links.len()));
        let evaluator = self.evaluator(self.context);
        let mut builder = Builder::with_capacity(rows);
        for index in 0..rows {
            let mut value = first.value(&above, index);
            for link in &links {
                value = match link {
                    RunningLink::Percent => percent(&evaluator, &value)?,
                    RunningLink::Operator(operator, operand) => {
                        let right = operand.value(&above, index);
                        match (&value, &right) {
                            (Value::Number(left), Value::Number(right))
                                if is_arithmetic(*operator) =>
                            {
                                let result = calculate(*operator, *left, *right);
                                value_of(result.map(number_value))?
                            }
                            _ => value_of(evaluator.apply(*operator, &value, &right))?,
                        }
                    }
                };
            }
            above = cell_value(value);
            builder.push(above.clone());
        }
        self.costs.add_texts(&evaluator.budget);
        Some(builder.finish())
    }

    fn running_links(&self, chain: &Chain, expression: Expression<'_>) -> Option<Vec<RunningLink>> {
        let mut links = Vec::with_capacity(chain.links.len());
        for link in &chain.links {
            links.push(match link {
                Link::Operator(operator, right) if !operator.joins_references() => {
                    let operand = self.running_operand(expression.at(*right))?;
                    RunningLink::Operator(*operator, operand)
                }
                Link::Percent => RunningLink::Percent,
                _ => return None,
            });
        }
        Some(links)
    }

    fn running_operand(&self, expression: Expression<'_>) -> Option<RunningOperand> {
        const ABOVE: Coordinate = Coordinate::Relative(-1);
        let rows = self.row_count as usize;
        if let Node::Reference(reference) = expression.node()
            && self.reads_own_rows(expression.node())
        {
            let (row, column) = reference.only_cell()?;
            self.sheet_of(reference)?;
            let is_above =
                row == ABOVE && column.at(self.context.cell.column)? == self.context.cell.column;
            self.costs.add_steps(rows, 1);
            self.costs.add_cells(rows, 1, crate::number::count(rows));
            return is_above.then_some(RunningOperand::Above);
        }
        if self.contains_own_rows(expression) {
            return None;
        }
        Some(RunningOperand::Cells(self.evaluate(expression, Rows::All(self.row_count))?))
    }

    fn contains_own_rows(&self, expression: Expression<'_>) -> bool {
        let contains = |index| self.contains_own_rows(expression.at(index));
        match expression.node() {
            node @ Node::Reference(_) => self.reads_own_rows(node),
            Node::Prefix(_, operand) => contains(*operand),
            Node::Chain(chain) => {
                contains(chain.first)
                    || chain.links.iter().any(|link| match link {
                        Link::Operator(_, right) => contains(*right),
                        Link::Call(arguments) => arguments.iter().copied().any(contains),
                        Link::Percent | Link::Spill => false,
                    })
            }
            Node::Call(_, arguments) | Node::CallName(_, arguments) => {
                arguments.iter().copied().any(contains)
            }
            Node::Literal(_)
            | Node::Omitted
            | Node::Name(_)
            | Node::Array { .. }
            | Node::Error(_) => false,
        }
    }
}

fn is_arithmetic(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Power
    )
}

fn percent(evaluator: &crate::evaluate::Evaluator<'_>, value: &Value) -> Option<Value> {
    if let Value::Error(_) = value {
        return Some(value.clone());
    }
    let number = crate::value::to_number_by(value, evaluator.date_rules());
    value_of(number.map(|number| number_value(number / 100.0)))
}
