import fc from "fast-check";

/** Random references and formulas, like those of `core/formula/src/testing.rs`. */
const cell = fc.stringMatching(/^\$?[A-Za-c]\$?[1-9][0-9]?$/).filter((text) => /^\$?[A-Za-z]\$?\d+$/.test(text));
const area = fc.oneof(
  { weight: 4, arbitrary: cell },
  { weight: 4, arbitrary: fc.tuple(cell, cell).map(([first, last]) => `${first}:${last}`) },
  { weight: 1, arbitrary: fc.stringMatching(/^\$?[A-H]:\$?[A-H]$/) },
  { weight: 1, arbitrary: fc.stringMatching(/^\$?[1-9]:\$?[1-9]$/) },
  { weight: 1, arbitrary: fc.constant("#REF!") },
);
const sheet = fc.oneof({ weight: 6, arbitrary: fc.constant("") }, { weight: 4, arbitrary: fc.constantFrom("data!", "'My sheet'!", "Sheet1!", "Missing!", "'It''s'!") });

export const anyReference = fc.tuple(sheet, area).map((parts) => parts.join(""));

export interface KnownFormula {
  text: string;
  references: string[];
}

const constant = fc.oneof(
  fc.stringMatching(/^[0-9]{1,3}(\.[0-9])?(E[0-9])?$/),
  fc.stringMatching(/^[a-zA-Z1 "]{0,4}$/).map((text) => `"${text.replaceAll('"', '""')}"`),
  fc.constantFrom("true", "#n/a", '{1,"a";-2,TRUE}', "rate_x", "A1B", "A1073741825", "Log10(2)"),
);
const leaf = fc.oneof(
  { weight: 3, arbitrary: anyReference.map((text): KnownFormula => ({ text, references: [text] })) },
  { weight: 1, arbitrary: constant.map((text): KnownFormula => ({ text, references: [] })) },
);
const operator = fc.constantFrom("+", " - ", "*", "/", "^", "&", "=", "<>", ">= ");

const { expression } = fc.letrec<{ expression: KnownFormula }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.tuple(tie("expression"), operator, tie("expression")).map(([one, sign, other]) => joined("", one, sign, other, "")),
    fc.tuple(tie("expression"), tie("expression")).map(([one, other]) => joined("sum(", one, ",", other, ")")),
    fc.tuple(tie("expression"), tie("expression")).map(([one, other]) => joined("IF(", one, ",,", other, ")")),
    tie("expression").map((value) => ({ ...value, text: `(-${value.text})` })),
    tie("expression").map((value) => ({ ...value, text: `Ln ( ${value.text} )%` })),
  ),
}));

export const anyFormula = expression.map(({ text, references }): KnownFormula => ({ text: `=${text}`, references }));

function joined(before: string, one: KnownFormula, between: string, other: KnownFormula, after: string): KnownFormula {
  return { text: before + one.text + between + other.text + after, references: [...one.references, ...other.references] };
}
