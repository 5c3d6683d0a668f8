// Writes number-formats.tsv: what other implementations of Excel's number formats display.
//
// A row has a format, a number or text, and the displayed text, as JSON. A row is written if two
// independent implementations agree: SheetJS's `ssf` and Borgar Thorsteinsson's `numfmt`. Where they
// disagree, `number_format/tests.rs` in `core/sheet` lists what Cellar displays, and why.
//
// In a folder outside of the repository:
//
//     npm install ssf@0.11.2 numfmt@4.0.1
//     cp .../tests/golden/number-formats.mjs . && node number-formats.mjs > number-formats.tsv

import { format as numfmt } from 'numfmt';
import ssf from 'ssf';

const NUMBERS = [
  0, 1, -1, 0.5, -0.5, 12, -12, 1.5, 2.5, 0.001, -0.3, 9.996, 99.95, 1234.5, -1234.567, 12345,
  123456.789, 1234567.891, -9876543.21, 1e9, 0.125, 0.333333333333, -0.0049, 5551234567,
];
const NUMBER_FORMATS = [
  // Built into Excel.
  '0', '0.00', '#,##0', '#,##0.00', '0%', '0.00%', '0.00E+00', '# ?/?', '# ??/??',
  '#,##0 ;(#,##0)', '#,##0 ;[Red](#,##0)', '#,##0.00;(#,##0.00)', '#,##0.00;[Red](#,##0.00)',
  '##0.0E+0', '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
  '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
  '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
  '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
  '"$"#,##0_);\\("$"#,##0\\)', '"$"#,##0_);[Red]\\("$"#,##0\\)', '"$"#,##0.00_);\\("$"#,##0.00\\)',
  // Common in workbooks.
  '0.0', '0.000', '0.0000000', '#', '##', '#.#', '#.##', '#.00', '.00', '.##', '0.', '#.', '0.#',
  '0.0#', '0.0##', '0.00#', '0.####', '00', '000', '0000', '00000', '00.00', '0000000000', '#0',
  '#0.0', '###0', '###0.00', '#,###', '#,###.00', '#,##0.0', '#,##0.000', '#,##0.0#', '#,##0.##',
  '00,000', '00,000.00', '0.0%', '0.000%', '#%', '#,##0%', '#,##0.00%', '0 %', '0.0 %',
  '$0', '$0.00', '$#,##0', '$#,##0.00', '$#,##0.00;-$#,##0.00', '$#,##0.00;[Red]-$#,##0.00',
  '$#,##0.00_);[Red]($#,##0.00)', '"USD "#,##0.00', '#,##0.00 "kr"', '#,##0.00\\ "€"', '€#,##0.00',
  '[$€] #,##0.00', '[$USD] #,##0.00', '[$£-809]#,##0.00', '[$$-409]#,##0.00', '#,##0 "EUR"',
  '_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-', '_-* #,##0_-;-* #,##0_-;_-* "-"_-;_-@_-',
  '_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-',
  '#,##0;-#,##0', '#,##0;[Red]-#,##0', '#,##0_);(#,##0)', '#,##0_);[Red](#,##0)', '0;-0', '0;(0)',
  '0.00;-0.00;0.00', '#,##0;(#,##0);-', '#,##0;(#,##0);"-"', '0;-0;', '0;;', ';;', '0;', '0;-0;;@',
  ';;;', '"yes";"no";"none"', '+0;-0;0', '+0.0%;-0.0%;0.0%', '0.00;[Red]0.00', '0.0;[Red](0.0)',
  '[Blue]0.00;[Red]-0.00;[Green]0', '[Color10]0;[Color 3]-0', '0"x"', '0\\x', '0.0x', '0.0"x"',
  '0 "items"', '"Total: "0.00', '"#"0', '0\\-00', '0-00', '00-00-00', '000-00-0000', '000\\-00\\-0000',
  '(000) 000-0000', '(###) ###-####', '###-####', '00000-0000', '0 0', '0 00', '# ##0', '#\\ ##0',
  '#\\ ##0.00', "#'##0", '# ### ##0', '0.00\\ "m²"', '0.0"°C"', '0" kg"', '0,', '0,,', '0.0,', '0.00,,',
  '#,##0,', '#,##0,,', '#,##0.0,', '#,##0.0,,', '#,##0,"k"', '#,##0.0,,"M"', '$#,##0.0,,"M"',
  '0.0,,"m"', '0.00,,,', '0.0E+0', '0.0E+00', '0.000E+00', '0E+0', '0E+00', '0.00E-00', '0.00E-0',
  '#E+0', '0.000000E+000', '# ?/2', '# ?/4', '# ?/8', '# ??/16', '# ?/10', '# ??/100', '?/?', '??/??',
  '# ???/???', '0 ?/?', '?/8', '??/100', '# ?? / ??', '[<100]0.0;0', '[>=1000]#,##0;0.00',
  '[<1]0.00%;0%', '[=0]"zero";0.0', '[=1]"one";[=2]"two";0', '[>100]"high";[<0]"low";"mid"',
  '[<0]"neg "0;"pos "0', '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', '[Red][<0]-0;[Blue][>10]0;0',
  '[<=12]0;[>12]00', '[<>0]0.0;"nothing"', '[>0]"▲"0;[<0]"▼"0;0', '?0', '??0', '??0.0', '0.0?', '0.???',
  '???', '?', '*-0', '* 0', '0* ', '0*x', '_-0_-', '!0', "'0'", '{0}', '<0>', '=0', '~0', '^0', '&0',
  ':0', '-0', '+0', '(0)', '0 1', '"0"', '" "', '-', '/', '"a""b"', '@', '"text"', '"a"0"b"',
  'General', 'General;-General', 'General;[Red]-General', '"x "General', 'General" x"', '0;-0;0;@',
  '0;@', '"v: "@', '@"!"',
];

const SERIALS = [
  61, 100.25, 367, 36525.999, 36526, 36585.5, 40909, 40909.0416666667, 40909.5, 41274.75,
  43831.123456789, 44562.00001, 45000.25, 45000.999988, 45351.3333333333, 45657.9, 73050, 2958465,
];
const DATE_FORMATS = [
  'm/d/yy', 'm/d/yyyy', 'd-mmm-yy', 'd-mmm', 'mmm-yy', 'm/d/yy h:mm', 'yyyy-mm-dd', 'yyyy/mm/dd',
  'dd/mm/yyyy', 'dd.mm.yyyy', 'd.m.yyyy', 'd.m.yy', 'dd-mm-yyyy', 'd/m/yy', 'mm/dd/yyyy', 'mm/dd/yy',
  'yyyy', 'yy', 'y', 'yyy', 'm', 'mm', 'mmm', 'mmmm', 'mmmmm', 'mmmmmm', 'd', 'dd', 'ddd', 'dddd', 'ddddd',
  'mmm yyyy', 'mmmm yyyy', 'mmm d, yyyy', 'mmmm d, yyyy', 'd mmm yyyy', 'd mmmm yyyy', 'dd mmm yy',
  'ddd d mmm', 'dddd, mmmm d, yyyy', 'dddd, mmmm dd, yyyy', 'ddd, dd mmm yyyy', 'd\\.\\ mmmm\\ yyyy',
  'dddd\\,\\ d\\ mmmm\\ yyyy', '[$-409]d-mmm-yyyy;@', '[$-409]mmmm d, yyyy;@', '[$-F800]dddd, mmmm d, yyyy',
  '[$-409]m/d/yy h:mm AM/PM;@', '[$-407]d. mmm yyyy;@', 'yyyy"年"m"月"d"日"', 'yyyymmdd', 'yymmdd', 'mmddyyyy',
  'yyyy-mm-dd hh:mm', 'yyyy-mm-dd hh:mm:ss', 'yyyy-mm-dd\\Thh:mm:ss', 'yyyy-mm-dd"T"hh:mm:ss"Z"',
  'dd/mm/yyyy hh:mm', 'dd.mm.yyyy hh:mm:ss', 'm/d/yyyy h:mm AM/PM', 'd/m/yyyy h:mm:ss AM/PM',
  'yyyy-mm-dd h:mm a/p', 'hh:mm dd/mm/yyyy', 'e', 'd;@', '"Week of "mmm d', 'mmm "\'"yy', 'q\\q d',
];
const TIME_FORMATS = [
  'h:mm AM/PM', 'h:mm:ss AM/PM', 'h:mm', 'h:mm:ss', 'mm:ss', '[h]:mm:ss', 'mm:ss.0', 'h', 'hh', 's', 'ss',
  'hh:mm', 'hh:mm:ss', 'hh:mm AM/PM', 'hh:mm:ss AM/PM', 'h AM/PM', 'h A/P', 'hh:mm A/P', 'AM/PM h:mm',
  'hh:mm:ss.0', 'hh:mm:ss.00', 'hh:mm:ss.000', 'h:mm:ss.000', 'ss.00', 's.0', 'm:ss', 'mm:ss.000', '[h]', '[hh]',
  '[h]:mm', '[hh]:mm', '[hh]:mm:ss', '[mm]', '[m]', '[mm]:ss', '[m]:ss', '[s]', '[ss]', '[h]:mm:ss.00',
  '[mm]:ss.0', 'h"h "mm"m"', 'h\\h mm\\m ss\\s', '[h]"h" mm"m"', 'h.mm', '"at "h:mm', '[$-409]h:mm AM/PM;@',
  '[$-F400]h:mm:ss AM/PM', 'hh"時"mm"分"ss"秒"', 'hhmmss', 'hh mm ss',
];
const TIMES = [0, 0.25, 0.5, 0.75, 0.0001, 0.041666666667, 0.123456789, 0.3333333333, 0.6, 0.9, 0.999, 1, 1.5, 2.75];

const TEXTS = ['text', '', '1'];
const TEXT_FORMATS = [
  '@', '"a "@', '@"!"', '0;@', '0;-0;0;@', ';;;', '0;-0;0;"text"', '_(* #,##0_);_(* "-"_);_(@_)', '0.00', 'General;@',
  '"v: "@" ."', 'yyyy-mm-dd;@', '0;;;', '0;-0;0;[Red]@', ';;;@', '@;0',
];

const attempt = (display) => { try { return display(); } catch { return undefined; } };
const seen = new Set();
function write(code, value) {
  // Cellar displays all digits of a number, where Excel displays 11 characters.
  if (/General|@/.test(code) && typeof value === 'number' && String(value).length > 10) return;
  const one = attempt(() => ssf.format(code, value));
  const other = attempt(() => numfmt(code, value));
  const row = [code, value, one].map((column) => JSON.stringify(column)).join('\t');
  if (one !== undefined && one === other && !seen.has(row)) {
    seen.add(row);
    console.log(row);
  }
}

for (const code of NUMBER_FORMATS) NUMBERS.forEach((number) => write(code, number));
for (const code of DATE_FORMATS) SERIALS.forEach((serial) => write(code, serial));
for (const code of TIME_FORMATS) [...TIMES, ...SERIALS].forEach((serial) => write(code, serial));
for (const code of TEXT_FORMATS) TEXTS.forEach((text) => write(code, text));
