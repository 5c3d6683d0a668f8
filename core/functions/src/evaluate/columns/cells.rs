//! One value for each row.

use cellar_sheet::cell::{ErrorCode, Value};

/// Values of an expression in some rows. Errors are error values.
#[derive(Debug, Clone)]
pub(super) enum Cells {
    /// The same value in all rows.
    Same(Value),
    Numbers(Vec<f64>),
    Booleans(Vec<bool>),
    Values(Vec<Value>),
}

impl Cells {
    pub(super) fn value(&self, index: usize) -> Value {
        match self {
            Self::Same(value) => value.clone(),
            Self::Numbers(numbers) => {
                numbers.get(index).map_or(Value::Empty, |number| Value::Number(*number))
            }
            Self::Booleans(booleans) => {
                booleans.get(index).map_or(Value::Empty, |boolean| Value::Bool(*boolean))
            }
            Self::Values(values) => values.get(index).cloned().unwrap_or_default(),
        }
    }

    /// Returns the value in a row without cloning it. `place` holds values that are not stored as
    /// such.
    pub(super) fn borrowed<'a>(&'a self, index: usize, place: &'a mut Value) -> &'a Value {
        match self {
            Self::Same(value) => value,
            Self::Values(values) => match values.get(index) {
                Some(value) => value,
                None => place,
            },
            _ => {
                *place = self.value(index);
                place
            }
        }
    }

    pub(super) fn error(&self, index: usize) -> Option<ErrorCode> {
        let value = match self {
            Self::Same(value) => value,
            Self::Values(values) => values.get(index)?,
            Self::Numbers(_) | Self::Booleans(_) => return None,
        };
        if let Value::Error(code) = value { Some(*code) } else { None }
    }

    pub(super) fn as_numbers(&self) -> Option<Numbers<'_>> {
        match self {
            Self::Same(Value::Number(number)) => Some(Numbers::Same(*number)),
            Self::Numbers(numbers) => Some(Numbers::Each(numbers)),
            _ => None,
        }
    }

    /// Returns the values of the rows with the given indices.
    pub(super) fn picked(&self, indices: impl Iterator<Item = usize>) -> Self {
        match self {
            Self::Same(value) => Self::Same(value.clone()),
            Self::Numbers(numbers) => {
                let number = |index: usize| numbers.get(index).copied().unwrap_or_default();
                Self::Numbers(indices.map(number).collect())
            }
            _ => {
                let mut builder = Builder::default();
                indices.for_each(|index| builder.push(self.value(index)));
                builder.finish()
            }
        }
    }
}

/// Values that are all numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Numbers<'a> {
    Same(f64),
    Each(&'a [f64]),
}

impl Numbers<'_> {
    pub(super) fn get(self, index: usize) -> f64 {
        match self {
            Self::Same(number) => number,
            Self::Each(numbers) => numbers.get(index).copied().unwrap_or_default(),
        }
    }
}

/// Collects values row by row. Numbers are kept as such as long as there is no other value.
#[derive(Debug, Default)]
pub(super) struct Builder {
    numbers: Vec<f64>,
    /// All values, from the first one on that is not a number.
    values: Option<Vec<Value>>,
    capacity: usize,
}

impl Builder {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { numbers: Vec::with_capacity(capacity), values: None, capacity }
    }

    pub(super) fn len(&self) -> usize {
        self.values.as_ref().map_or(self.numbers.len(), Vec::len)
    }

    fn values(&mut self) -> &mut Vec<Value> {
        let (numbers, capacity) = (&mut self.numbers, self.capacity);
        self.values.get_or_insert_with(|| {
            let mut values = Vec::with_capacity(capacity.max(numbers.len()));
            values.extend(numbers.drain(..).map(Value::Number));
            values
        })
    }

    pub(super) fn push(&mut self, value: Value) {
        match (&mut self.values, value) {
            (None, Value::Number(number)) => self.numbers.push(number),
            (_, value) => self.values().push(value),
        }
    }

    pub(super) fn push_numbers(&mut self, numbers: &[f64]) {
        match &mut self.values {
            None => self.numbers.extend_from_slice(numbers),
            Some(values) => values.extend(numbers.iter().map(|number| Value::Number(*number))),
        }
    }

    pub(super) fn push_values(&mut self, values: &[Value]) {
        values.iter().for_each(|value| self.push(value.clone()));
    }

    pub(super) fn push_empty(&mut self, count: usize) {
        let values = self.values();
        values.resize(values.len() + count, Value::Empty);
    }

    pub(super) fn finish(self) -> Cells {
        match self.values {
            None => Cells::Numbers(self.numbers),
            Some(values) => Cells::Values(values),
        }
    }
}
