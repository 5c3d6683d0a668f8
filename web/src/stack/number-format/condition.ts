/** Conditions of sections, such as `[>=100]`. */

const OPERATORS = ["<=", ">=", "<>", "<", ">", "="] as const;

export interface Condition {
  operator: (typeof OPERATORS)[number];
  operand: number;
}

/** Parses the text between brackets. */
export function parseCondition(text: string): Condition | undefined {
  const operator = OPERATORS.find((candidate) => text.startsWith(candidate));
  if (operator === undefined) return undefined;
  const operandText = text.slice(operator.length).trim();
  const isNumber = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(operandText);
  const operand = Number(operandText);
  return isNumber && Number.isFinite(operand) ? { operator, operand } : undefined;
}

export function matches({ operator, operand }: Condition, number: number): boolean {
  switch (operator) {
    case "<":
      return number < operand;
    case "<=":
      return number <= operand;
    case "=":
      return number === operand;
    case "<>":
      return number !== operand;
    case ">=":
      return number >= operand;
    case ">":
      return number > operand;
  }
}

/** Whether only negative numbers match. Their sign is not displayed. */
export function isOnlyNegative({ operator, operand }: Condition): boolean {
  if (operator === "<") return operand <= 0;
  return (operator === "<=" || operator === "=") && operand < 0;
}
