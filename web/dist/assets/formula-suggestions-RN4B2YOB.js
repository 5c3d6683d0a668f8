import{b as p,e as N,f as c,g as E,h as R}from"./chunk-G6HMQJOG.js";import{cb as u,db as S,fb as h}from"./chunk-GTOTQ4W7.js";var U=60,F=3;function O(r,e,t){if(!r.startsWith("=")||e.start!==e.end)return null;let n=p(r),a=n.find(({start:b,end:P})=>b<e.end&&e.end<=P);if(!a||a.end!==e.end)return null;let o=r.slice(a.start,a.end);if(a.kind==="unknown"&&o.startsWith("'"))return A(a,g(t.sheets,o.slice(1).replaceAll("''","'")),!0);let i=a.kind==="name"||a.kind==="function"||a.kind==="boolean",s=a.kind==="reference"&&/^[A-Za-z]+\d+$/.test(o);if(!i&&!s)return null;let l=s||a.kind==="boolean"||H(r,n,a)||t.names.some(b=>T(b,o)),m=[...k(t.functions,o,r[a.end]==="("),...V(t.names,o),...g(t.sheets,o)];return m.length===1&&T(m[0].label,o)&&a.kind==="function"?null:A(a,m,!l)}function A({start:r,end:e},t,n){return t.length===0?null:{span:{start:r,end:e},items:t.slice(0,U),isCertain:n}}function H(r,e,t){let n=r.slice(t.start,t.end);return e.some(a=>a!==t&&a.kind==="name"&&T(r.slice(a.start,a.end),n))}function k(r,e,t){let n=I(r,({name:o})=>o,e),a=({meaning:o})=>o.startsWith("Like ")||/\bOlder (?:name|form) of /.test(o);return[...n.filter(o=>!a(o)),...n.filter(a)].map(({name:o,meaning:i})=>({label:o,text:t?o:`${o}(`,detail:i}))}function V(r,e){return I(r,t=>t,e).map(t=>({label:t,text:t,detail:"Name"}))}function g(r,e){return I(r,t=>t,e).map(t=>({label:t,text:`${N(t)}!`,detail:"Sheet"}))}function I(r,e,t){let n=t.toLowerCase(),a=r.map(i=>({one:i,at:e(i).toLowerCase().indexOf(n)})),o=n.length>=F?a.filter(({at:i})=>i>0):[];return[...a.filter(({at:i})=>i===0),...o].map(({one:i})=>i)}function T(r,e){return r.toLowerCase()===e.toLowerCase()}function C(r,e){if(!r.startsWith("="))return null;let t=[],n;for(let a of p(r)){if(a.end>e)break;let o=t[t.length-1];a.kind==="open"?t.push(n?.kind==="function"?{name:r.slice(n.start,n.end),argument:0}:null):a.kind==="openArray"?t.push(null):a.kind==="close"||a.kind==="closeArray"?t.pop():a.kind==="comma"&&o&&o.argument++,a.kind!=="space"&&(n=a)}return t.findLast(a=>a!==null)??null}var B=/^([A-Z0-9.]+)\((.*)\)\t(.*)$/,_=/(\{)?(\[)?([a-z_0-9]+)\]?(\})?(…)?/g;function x(r){return r.split(`
`).flatMap(e=>{let[,t,n,a]=B.exec(e)??[];return t===void 0?[]:[{name:t,meaning:a??"",...G(n??"")}]})}function G(r){let e=[],t=0,n=0,a=0;for(let[,o,i,s,l,m]of r.matchAll(_))o&&(t=e.length),e.push({name:s,isOptional:i!==void 0}),m&&(n=l?t:e.length-1,a=e.length-n);return{arguments:e,repeatStart:n,repeatCount:a}}function D(r,e){return e<r.repeatStart+r.repeatCount||r.repeatCount===0?e<r.arguments.length?e:-1:r.repeatStart+(e-r.repeatStart)%r.repeatCount}function v(r){let e=r.repeatStart+r.repeatCount-1;return r.arguments.map(({name:t,isOptional:n},a)=>(n?`[${t}]`:t)+(r.repeatCount>0&&a===e?", …":""))}var Y=26,f=class{constructor(e){this.onPick=e;this.element.hidden=!0,this.element.append(this.#n,this.#e),this.element.addEventListener("mousedown",t=>t.preventDefault()),this.#e.addEventListener("wheel",t=>this.#e.scrollTop+=t.deltaY*(t.deltaMode===WheelEvent.DOM_DELTA_LINE?Y:1),{passive:!0}),this.#e.addEventListener("click",t=>{let n=[...this.#e.children].indexOf(t.target.closest("[role=option]"));n>=0&&this.onPick(n)})}onPick;element=u("div","formula-popup");#n=u("div","formula-hint",{id:"formula-hint"});#e=u("div","formula-list",{id:"formula-list",role:"listbox","aria-label":"Suggestions"});#a=[];#r="";#t=null;draw(e,t,n,a){this.element.hidden=!e||!t&&n.length===0,this.#t&&this.#t!==e&&W(this.#t),this.#t=e,e&&(this.#o(t),this.#s(n,a),M(e,n.length>0,a,t!==null),this.element.hidden||this.#i(e))}#o(e){this.#n.hidden=!e;let t=e?`${e.info.name} ${e.argument}`:"";if(!e||t===this.#r)return;this.#r=t;let{info:n}=e,a=D(n,e.argument),o=v(n).flatMap((i,s)=>{let l=s===a?u("b","",{},i):i;return s===0?[l]:[", ",l]});this.#n.replaceChildren(u("div","formula-call",{},`${n.name}(`,...o,")"),u("div","formula-meaning",{},n.meaning))}#s(e,t){this.#e.hidden=e.length===0,JSON.stringify(e)!==JSON.stringify(this.#a)&&(this.#a=e,this.#e.replaceChildren(...e.map(X)),this.#e.scrollTop=0),[...this.#e.children].forEach((n,a)=>h(n,"aria-selected",String(a===t))),this.#e.children[t]?.scrollIntoView({block:"nearest"})}#i(e){let t=this.element.offsetParent?.getBoundingClientRect();if(!t)return;let n=e.getBoundingClientRect(),{offsetWidth:a,offsetHeight:o}=this.element,i=n.bottom-t.top+2,s=n.top-t.top-o-2,l=i+o>t.height&&s>=0?s:i;S(this.element,Math.max(0,Math.min(n.left-t.left,t.width-a)),l)}};function X({label:r,detail:e},t){return u("div","formula-option",{id:`formula-option-${t}`,role:"option"},u("span","",{},r),u("span","formula-meaning",{},e))}function M(r,e,t,n){let a=e&&t>=0;d(r,"aria-autocomplete","list"),d(r,"aria-haspopup","listbox"),d(r,"aria-controls",e?"formula-list":null),d(r,"aria-activedescendant",a?`formula-option-${t}`:null);let o=(r.getAttribute("aria-describedby")??"").split(" ").filter(i=>i!==""&&i!=="formula-hint");d(r,"aria-describedby",[...o,...n?["formula-hint"]:[]].join(" ")||null)}function W(r){M(r,!1,-1,!1);for(let e of["aria-autocomplete","aria-haspopup"])r.removeAttribute(e)}function d(r,e,t){t===null?r.removeAttribute(e):h(r,e,t)}var w=`ABS(number)	The number without its sign.
ACCRINT(issue, first_interest, settlement, rate, par, frequency, [basis], [from_issue])	Accrued interest of a security that pays periodically.
ACCRINTM(issue, settlement, rate, par, [basis])	Accrued interest of a security that pays at maturity.
ACOS(number)	Arccosine, in radians.
ACOSH(number)	Inverse hyperbolic cosine.
ACOT(number)	Arccotangent, in radians.
ACOTH(number)	Inverse hyperbolic cotangent.
ADDRESS(row, column, [kind], [a1], [sheet])	Address of a cell, as text.
AGGREGATE(function, options, range…)	Aggregate that can ignore errors and hidden rows.
AMORDEGRC(cost, purchase, first_period, salvage, period, rate, [basis])	French depreciation of a period, by a coefficient.
AMORLINC(cost, purchase, first_period, salvage, period, rate, [basis])	French linear depreciation of a period.
AND(condition…)	TRUE if all conditions are true.
ARABIC(text)	Number of a Roman numeral.
AREAS(reference)	Number of areas in a reference.
ARRAYTOTEXT(array, [format])	All values of an array, as text.
ASC(text)	Text with half-width characters.
ASIN(number)	Arcsine, in radians.
ASINH(number)	Inverse hyperbolic sine.
ATAN(number)	Arctangent, in radians.
ATAN2(x, y)	Angle of a point, in radians.
ATANH(number)	Inverse hyperbolic tangent.
AVEDEV(number…)	Mean distance of numbers from their mean.
AVERAGE(number…)	Mean of numbers.
AVERAGEA(value…)	Mean of values; text counts as 0.
AVERAGEIF(range, criterion, [average_range])	Mean of the cells that fulfil a criterion.
AVERAGEIFS(average_range, {range, criterion}…)	Mean of the cells that fulfil all criteria.
BASE(number, radix, [length])	Number as text in another base.
BESSELI(x, order)	Modified Bessel function In(x).
BESSELJ(x, order)	Bessel function Jn(x).
BESSELK(x, order)	Modified Bessel function Kn(x).
BESSELY(x, order)	Bessel function Yn(x).
BETA.DIST(x, alpha, beta, cumulative, [low], [high])	Beta distribution.
BETA.INV(probability, alpha, beta, [low], [high])	Inverse of the beta distribution.
BETADIST(x, alpha, beta, [low], [high])	Cumulative beta distribution. Older form of BETA.DIST.
BETAINV(probability, alpha, beta, [low], [high])	Older name of BETA.INV.
BIN2DEC(number)	Binary number as decimal.
BIN2HEX(number, [length])	Binary number as hexadecimal.
BIN2OCT(number, [length])	Binary number as octal.
BINOM.DIST(successes, trials, probability, cumulative)	Binomial distribution.
BINOM.DIST.RANGE(trials, probability, successes, [to_successes])	Probability of a number of successes, or of a range of them.
BINOM.INV(trials, probability, alpha)	Inverse of the binomial distribution.
BINOMDIST(successes, trials, probability, cumulative)	Older name of BINOM.DIST.
BITAND(number, number2)	Bitwise and.
BITLSHIFT(number, bits)	Number shifted left by some bits.
BITOR(number, number2)	Bitwise or.
BITRSHIFT(number, bits)	Number shifted right by some bits.
BITXOR(number, number2)	Bitwise exclusive or.
BYCOL(array, lambda)	Result of a function for each column.
BYROW(array, lambda)	Result of a function for each row.
CEILING(number, multiple)	Number rounded up to a multiple.
CEILING.MATH(number, [multiple], [mode])	Number rounded up; the mode rounds negative numbers away from 0.
CEILING.PRECISE(number, [multiple])	Number rounded up, also if it is negative.
CELL(info, [reference])	Information about a cell, such as "address".
CHAR(number)	Character of a code from 1 to 255.
CHIDIST(x, degrees)	Older name of CHISQ.DIST.RT.
CHIINV(probability, degrees)	Older name of CHISQ.INV.RT.
CHISQ.DIST(x, degrees, cumulative)	Chi-squared distribution.
CHISQ.DIST.RT(x, degrees)	Right tail of the chi-squared distribution.
CHISQ.INV(probability, degrees)	Inverse of the chi-squared distribution.
CHISQ.INV.RT(probability, degrees)	Inverse of the right tail of the chi-squared distribution.
CHISQ.TEST(actual, expected)	Chi-squared test of independence.
CHITEST(actual, expected)	Older name of CHISQ.TEST.
CHOOSE(index, value…)	The value with this index.
CHOOSECOLS(array, column…)	Columns of an array.
CHOOSEROWS(array, row…)	Rows of an array.
CLEAN(text)	Text without control characters.
CODE(text)	Code of the first character.
COLUMN([reference])	Column number.
COLUMNS(array)	Number of columns.
COMBIN(number, chosen)	Number of combinations.
COMBINA(number, chosen)	Number of combinations with repetition.
COMPLEX(real, imaginary, [suffix])	Complex number from its parts.
CONCAT(text…)	Joins texts and ranges.
CONCATENATE(text…)	Joins texts.
CONFIDENCE(alpha, deviation, size)	Older name of CONFIDENCE.NORM.
CONFIDENCE.NORM(alpha, deviation, size)	Confidence interval of a mean, by the normal distribution.
CONFIDENCE.T(alpha, deviation, size)	Confidence interval of a mean, by the t-distribution.
CONVERT(number, from, to)	Number in another unit, such as "km" to "mi".
CORREL(array, array2)	Correlation coefficient.
COS(angle)	Cosine of an angle in radians.
COSH(number)	Hyperbolic cosine.
COT(angle)	Cotangent of an angle in radians.
COTH(number)	Hyperbolic cotangent.
COUNT(value…)	Number of numbers.
COUNTA(value…)	Number of cells that are not blank.
COUNTBLANK(range)	Number of blank cells.
COUNTIF(range, criterion)	Number of cells that fulfil a criterion, such as ">5".
COUNTIFS({range, criterion}…)	Number of cells that fulfil all criteria.
COUPDAYBS(settlement, maturity, frequency, [basis])	Days from the start of the coupon period to settlement.
COUPDAYS(settlement, maturity, frequency, [basis])	Days in the coupon period of the settlement.
COUPDAYSNC(settlement, maturity, frequency, [basis])	Days from settlement to the next coupon.
COUPNCD(settlement, maturity, frequency, [basis])	Date of the next coupon.
COUPNUM(settlement, maturity, frequency, [basis])	Number of coupons until maturity.
COUPPCD(settlement, maturity, frequency, [basis])	Date of the previous coupon.
COVAR(array, array2)	Older name of COVARIANCE.P.
COVARIANCE.P(array, array2)	Covariance of a population.
COVARIANCE.S(array, array2)	Covariance of a sample.
CRITBINOM(trials, probability, alpha)	Older name of BINOM.INV.
CSC(angle)	Cosecant of an angle in radians.
CSCH(number)	Hyperbolic cosecant.
CUMIPMT(rate, periods, present, first, last, type)	Interest paid between two periods.
CUMPRINC(rate, periods, present, first, last, type)	Principal paid between two periods.
DATE(year, month, day)	Date from year, month and day.
DATEDIF(start, end, unit)	Time between dates in "Y", "M", "D", "YM", "MD" or "YD".
DATEVALUE(text)	Date from text.
DAVERAGE(database, field, criteria)	Mean of a field of the matching records.
DAY(date)	Day of the month.
DAYS(end, start)	Number of days between dates.
DAYS360(start, end, [european])	Days between dates in a year of 360 days.
DB(cost, salvage, life, period, [months])	Depreciation by the fixed-declining balance.
DBCS(text)	Text with full-width characters.
DCOUNT(database, field, criteria)	Number of numbers in a field of the matching records.
DCOUNTA(database, field, criteria)	Number of filled cells in a field of the matching records.
DDB(cost, salvage, life, period, [factor])	Depreciation by the double-declining balance.
DEC2BIN(number, [length])	Decimal number as binary.
DEC2HEX(number, [length])	Decimal number as hexadecimal.
DEC2OCT(number, [length])	Decimal number as octal.
DECIMAL(text, radix)	Number from a text in another base.
DEGREES(angle)	Radians as degrees.
DELTA(number, [number2])	1 if two numbers are equal, or 0.
DEVSQ(number…)	Sum of squared distances from the mean.
DGET(database, field, criteria)	The field of the one matching record.
DISC(settlement, maturity, price, redemption, [basis])	Discount rate of a security.
DMAX(database, field, criteria)	Largest value of a field of the matching records.
DMIN(database, field, criteria)	Smallest value of a field of the matching records.
DOLLAR(number, [decimals])	Number as text in dollars.
DOLLARDE(fractional, fraction)	Dollar price as a decimal number.
DOLLARFR(decimal, fraction)	Dollar price as a fraction.
DPRODUCT(database, field, criteria)	Product of a field of the matching records.
DROP(array, rows, [columns])	Array without its first or last rows and columns.
DSTDEV(database, field, criteria)	Standard deviation of a field, as a sample.
DSTDEVP(database, field, criteria)	Standard deviation of a field, as a population.
DSUM(database, field, criteria)	Sum of a field of the matching records.
DURATION(settlement, maturity, coupon, yield, frequency, [basis])	Macaulay duration of a bond.
DVAR(database, field, criteria)	Variance of a field, as a sample.
DVARP(database, field, criteria)	Variance of a field, as a population.
EDATE(start, months)	Date some months later.
EFFECT(nominal, periods)	Effective annual interest rate.
ENCODEURL(text)	Text encoded for a URL.
EOMONTH(start, months)	Last day of the month, some months later.
ERF(lower, [upper])	Error function.
ERF.PRECISE(x)	Error function from 0 to x.
ERFC(x)	Complementary error function.
ERFC.PRECISE(x)	Complementary error function.
ERROR.TYPE(value)	Number of an error, such as 2 for #DIV/0!.
EVEN(number)	Number rounded away from 0 to an even number.
EXACT(text, text2)	TRUE if texts are the same, with case.
EXP(number)	e raised to a power.
EXPAND(array, rows, [columns], [pad])	Array made larger.
EXPON.DIST(x, lambda, cumulative)	Exponential distribution.
EXPONDIST(x, lambda, cumulative)	Older name of EXPON.DIST.
F.DIST(x, degrees, degrees2, cumulative)	F-distribution.
F.DIST.RT(x, degrees, degrees2)	Right tail of the F-distribution.
F.INV(probability, degrees, degrees2)	Inverse of the F-distribution.
F.INV.RT(probability, degrees, degrees2)	Inverse of the right tail of the F-distribution.
F.TEST(array, array2)	F-test of two variances.
FACT(number)	Factorial.
FACTDOUBLE(number)	Double factorial.
FALSE()	The value FALSE.
FDIST(x, degrees, degrees2)	Older name of F.DIST.RT.
FILTER(array, include, [if_empty])	Rows or columns that fulfil a condition.
FIND(text, within, [start])	Position of a text, with case.
FINDB(text, within, [start])	Like FIND.
FINV(probability, degrees, degrees2)	Older name of F.INV.RT.
FISHER(x)	Fisher transformation.
FISHERINV(y)	Inverse of the Fisher transformation.
FIXED(number, [decimals], [no_commas])	Number as text with fixed decimals.
FLOOR(number, multiple)	Number rounded down to a multiple.
FLOOR.MATH(number, [multiple], [mode])	Number rounded down; the mode rounds negative numbers towards 0.
FLOOR.PRECISE(number, [multiple])	Number rounded down, also if it is negative.
FORECAST(x, known_y, known_x)	Older name of FORECAST.LINEAR.
FORECAST.LINEAR(x, known_y, known_x)	Value on the regression line.
FORMULATEXT(reference)	Formula of a cell, as text.
FREQUENCY(data, bins)	Number of values in each interval.
FTEST(array, array2)	Older name of F.TEST.
FV(rate, periods, payment, [present], [type])	Future value of an investment.
FVSCHEDULE(principal, rates)	Future value with changing interest rates.
GAMMA(number)	Gamma function.
GAMMA.DIST(x, alpha, beta, cumulative)	Gamma distribution.
GAMMA.INV(probability, alpha, beta)	Inverse of the gamma distribution.
GAMMADIST(x, alpha, beta, cumulative)	Older name of GAMMA.DIST.
GAMMAINV(probability, alpha, beta)	Older name of GAMMA.INV.
GAMMALN(x)	Logarithm of the gamma function.
GAMMALN.PRECISE(x)	Logarithm of the gamma function.
GAUSS(z)	Probability between the mean and z deviations.
GCD(number…)	Greatest common divisor.
GEOMEAN(number…)	Geometric mean.
GESTEP(number, [step])	1 if the number is at least the step, or 0.
GROWTH(known_y, [known_x], [new_x], [constant])	Values on an exponential curve.
HARMEAN(number…)	Harmonic mean.
HEX2BIN(number, [length])	Hexadecimal number as binary.
HEX2DEC(number)	Hexadecimal number as decimal.
HEX2OCT(number, [length])	Hexadecimal number as octal.
HLOOKUP(value, table, row, [approximate])	Finds a value in the first row; returns from another row.
HOUR(time)	Hour of a time.
HSTACK(array…)	Joins arrays side by side.
HYPERLINK(url, [text])	Link.
HYPGEOM.DIST(successes, sample, population_successes, population, cumulative)	Hypergeometric distribution.
HYPGEOMDIST(successes, sample, population_successes, population)	Older form of HYPGEOM.DIST.
IF(condition, [then], [else])	One value if the condition is true, or another.
IFERROR(value, if_error)	The value, or another if it is an error.
IFNA(value, if_na)	The value, or another if it is #N/A.
IFS({condition, value}…)	Value of the first true condition.
IMABS(number)	Absolute value of a complex number.
IMAGINARY(number)	Imaginary part of a complex number.
IMARGUMENT(number)	Angle of a complex number.
IMCONJUGATE(number)	Conjugate of a complex number.
IMCOS(number)	Cosine of a complex number.
IMCOSH(number)	Hyperbolic cosine of a complex number.
IMCOT(number)	Cotangent of a complex number.
IMCSC(number)	Cosecant of a complex number.
IMCSCH(number)	Hyperbolic cosecant of a complex number.
IMDIV(number, divisor)	Quotient of complex numbers.
IMEXP(number)	e raised to a complex power.
IMLN(number)	Natural logarithm of a complex number.
IMLOG10(number)	Decimal logarithm of a complex number.
IMLOG2(number)	Binary logarithm of a complex number.
IMPOWER(number, power)	Power of a complex number.
IMPRODUCT(number…)	Product of complex numbers.
IMREAL(number)	Real part of a complex number.
IMSEC(number)	Secant of a complex number.
IMSECH(number)	Hyperbolic secant of a complex number.
IMSIN(number)	Sine of a complex number.
IMSINH(number)	Hyperbolic sine of a complex number.
IMSQRT(number)	Square root of a complex number.
IMSUB(number, number2)	Difference of complex numbers.
IMSUM(number…)	Sum of complex numbers.
IMTAN(number)	Tangent of a complex number.
INDEX(array, row, [column], [area])	The cell in a row and column of a range.
INDIRECT(text, [a1])	Reference that a text names.
INFO(kind)	Information about the environment.
INT(number)	Number rounded down to an integer.
INTERCEPT(known_y, known_x)	Where the regression line meets the y-axis.
INTRATE(settlement, maturity, investment, redemption, [basis])	Interest rate of a fully invested security.
IPMT(rate, period, periods, present, [future], [type])	Interest part of a payment.
IRR(values, [guess])	Internal rate of return.
ISBLANK(value)	TRUE if the cell is blank.
ISERR(value)	TRUE for an error other than #N/A.
ISERROR(value)	TRUE for an error.
ISEVEN(number)	TRUE if the number is even.
ISFORMULA(reference)	TRUE if the cell has a formula.
ISLOGICAL(value)	TRUE for TRUE and FALSE.
ISNA(value)	TRUE for #N/A.
ISNONTEXT(value)	TRUE if the value is not text.
ISNUMBER(value)	TRUE for a number.
ISO.CEILING(number, [multiple])	Number rounded up, also if it is negative.
ISODD(number)	TRUE if the number is odd.
ISOMITTED(argument)	TRUE if an argument of LAMBDA is omitted.
ISOWEEKNUM(date)	Week of the year by ISO 8601.
ISPMT(rate, period, periods, present)	Interest of a loan with equal principal parts.
ISREF(value)	TRUE for a reference.
ISTEXT(value)	TRUE for text.
KURT(number…)	Kurtosis.
LAMBDA([parameter]…, calculation)	Function of your own.
LARGE(array, k)	The k-th largest number.
LCM(number…)	Least common multiple.
LEFT(text, [count])	First characters.
LEFTB(text, [count])	Like LEFT.
LEN(text)	Number of characters.
LENB(text)	Like LEN.
LET({name, value}…, calculation)	Names values for a calculation.
LINEST(known_y, [known_x], [constant], [statistics])	Parameters of a linear regression.
LN(number)	Natural logarithm.
LOG(number, [base])	Logarithm; the base defaults to 10.
LOG10(number)	Decimal logarithm.
LOGEST(known_y, [known_x], [constant], [statistics])	Parameters of an exponential regression.
LOGINV(probability, mean, deviation)	Older name of LOGNORM.INV.
LOGNORM.DIST(x, mean, deviation, cumulative)	Lognormal distribution.
LOGNORM.INV(probability, mean, deviation)	Inverse of the lognormal distribution.
LOGNORMDIST(x, mean, deviation)	Older form of LOGNORM.DIST.
LOOKUP(value, range, [results])	Finds a value in a sorted range.
LOWER(text)	Text in lower case.
MAKEARRAY(rows, columns, lambda)	Array whose cells a function calculates.
MAP(array…, lambda)	Result of a function for each cell.
MATCH(value, range, [kind])	Position of a value; kind 0 is exact.
MAX(number…)	Largest number.
MAXA(value…)	Largest value; text counts as 0.
MAXIFS(max_range, {range, criterion}…)	Largest number that fulfils all criteria.
MDETERM(array)	Determinant of a matrix.
MDURATION(settlement, maturity, coupon, yield, frequency, [basis])	Modified duration of a bond.
MEDIAN(number…)	Number in the middle.
MID(text, start, count)	Characters from a position.
MIDB(text, start, count)	Like MID.
MIN(number…)	Smallest number.
MINA(value…)	Smallest value; text counts as 0.
MINIFS(min_range, {range, criterion}…)	Smallest number that fulfils all criteria.
MINUTE(time)	Minute of a time.
MINVERSE(array)	Inverse of a matrix.
MIRR(values, finance_rate, reinvest_rate)	Modified internal rate of return.
MMULT(array, array2)	Product of matrices.
MOD(number, divisor)	Remainder, with the sign of the divisor.
MODE(number…)	Older name of MODE.SNGL.
MODE.MULT(number…)	All numbers that occur most often.
MODE.SNGL(number…)	Number that occurs most often.
MONTH(date)	Month of a date.
MROUND(number, multiple)	Number rounded to a multiple.
MULTINOMIAL(number…)	Multinomial coefficient.
MUNIT(size)	Unit matrix.
N(value)	Value as a number; text is 0.
NA()	The error #N/A.
NEGBINOM.DIST(failures, successes, probability, cumulative)	Negative binomial distribution.
NEGBINOMDIST(failures, successes, probability)	Older form of NEGBINOM.DIST.
NETWORKDAYS(start, end, [holidays])	Number of working days.
NETWORKDAYS.INTL(start, end, [weekend], [holidays])	Number of working days with other weekends.
NOMINAL(effective, periods)	Nominal annual interest rate.
NORM.DIST(x, mean, deviation, cumulative)	Normal distribution.
NORM.INV(probability, mean, deviation)	Inverse of the normal distribution.
NORM.S.DIST(z, cumulative)	Standard normal distribution.
NORM.S.INV(probability)	Inverse of the standard normal distribution.
NORMDIST(x, mean, deviation, cumulative)	Older name of NORM.DIST.
NORMINV(probability, mean, deviation)	Older name of NORM.INV.
NORMSDIST(z)	Older form of NORM.S.DIST.
NORMSINV(probability)	Older name of NORM.S.INV.
NOT(condition)	TRUE if the condition is false.
NOW()	Date and time of the newest edit.
NPER(rate, payment, present, [future], [type])	Number of payments.
NPV(rate, value…)	Net present value.
NUMBERVALUE(text, [decimal], [group])	Number from text with other separators.
OCT2BIN(number, [length])	Octal number as binary.
OCT2DEC(number)	Octal number as decimal.
OCT2HEX(number, [length])	Octal number as hexadecimal.
ODD(number)	Number rounded away from 0 to an odd number.
ODDFPRICE(settlement, maturity, issue, first_coupon, rate, yield, redemption, frequency, [basis])	Price of a bond with an odd first period.
ODDFYIELD(settlement, maturity, issue, first_coupon, rate, price, redemption, frequency, [basis])	Yield of a bond with an odd first period.
ODDLPRICE(settlement, maturity, last_interest, rate, yield, redemption, frequency, [basis])	Price of a bond with an odd last period.
ODDLYIELD(settlement, maturity, last_interest, rate, price, redemption, frequency, [basis])	Yield of a bond with an odd last period.
OFFSET(reference, rows, columns, [height], [width])	Reference moved by rows and columns.
OR(condition…)	TRUE if one condition is true.
PDURATION(rate, present, future)	Periods until a value is reached.
PEARSON(array, array2)	Correlation coefficient.
PERCENTILE(array, k)	Older name of PERCENTILE.INC.
PERCENTILE.EXC(array, k)	Percentile, without 0 and 1.
PERCENTILE.INC(array, k)	Percentile, with 0 and 1.
PERCENTOF(part, whole)	Share of a sum.
PERCENTRANK(array, x, [digits])	Older name of PERCENTRANK.INC.
PERCENTRANK.EXC(array, x, [digits])	Rank as a share, without 0 and 1.
PERCENTRANK.INC(array, x, [digits])	Rank as a share, with 0 and 1.
PERMUT(number, chosen)	Number of permutations.
PERMUTATIONA(number, chosen)	Number of permutations with repetition.
PHI(x)	Density of the standard normal distribution.
PI()	The number π.
PMT(rate, periods, present, [future], [type])	Payment of a loan.
POISSON(x, mean, cumulative)	Older name of POISSON.DIST.
POISSON.DIST(x, mean, cumulative)	Poisson distribution.
POWER(number, power)	Power of a number.
PPMT(rate, period, periods, present, [future], [type])	Principal part of a payment.
PRICE(settlement, maturity, rate, yield, redemption, frequency, [basis])	Price of a bond.
PRICEDISC(settlement, maturity, discount, redemption, [basis])	Price of a discounted security.
PRICEMAT(settlement, maturity, issue, rate, yield, [basis])	Price of a security that pays at maturity.
PROB(values, probabilities, lower, [upper])	Probability of a range of values.
PRODUCT(number…)	Product of numbers.
PROPER(text)	Text with capitals at the start of words.
PV(rate, periods, payment, [future], [type])	Present value of an investment.
QUARTILE(array, quarter)	Older name of QUARTILE.INC.
QUARTILE.EXC(array, quarter)	Quartile, without 0 and 1.
QUARTILE.INC(array, quarter)	Quartile, with 0 and 1.
QUOTIENT(number, divisor)	Integer part of a division.
RADIANS(angle)	Degrees as radians.
RAND()	Random number from 0 to 1.
RANDARRAY([rows], [columns], [min], [max], [integers])	Array of random numbers.
RANDBETWEEN(low, high)	Random integer.
RANK(number, range, [ascending])	Older name of RANK.EQ.
RANK.AVG(number, range, [ascending])	Rank; equal numbers share their mean rank.
RANK.EQ(number, range, [ascending])	Rank; equal numbers have the best rank.
RATE(periods, payment, present, [future], [type], [guess])	Interest rate of a loan.
RECEIVED(settlement, maturity, investment, discount, [basis])	Amount received at maturity.
REDUCE(initial, array, lambda)	Accumulates an array by a function.
REGEXEXTRACT(text, pattern, [mode], [ignore_case])	Text that matches a regular expression.
REGEXREPLACE(text, pattern, replacement, [occurrence], [ignore_case])	Text with matches of a regular expression replaced.
REGEXTEST(text, pattern, [ignore_case])	TRUE if a regular expression matches.
REPLACE(text, start, count, new_text)	Text with characters at a position replaced.
REPLACEB(text, start, count, new_text)	Like REPLACE.
REPT(text, count)	Repeated text.
RIGHT(text, [count])	Last characters.
RIGHTB(text, [count])	Like RIGHT.
ROMAN(number, [form])	Roman numeral.
ROUND(number, digits)	Rounded number.
ROUNDDOWN(number, digits)	Number rounded towards 0.
ROUNDUP(number, digits)	Number rounded away from 0.
ROW([reference])	Row number.
ROWS(array)	Number of rows.
RRI(periods, present, future)	Interest rate for the growth of a value.
RSQ(known_y, known_x)	Square of the correlation coefficient.
SCAN(initial, array, lambda)	Each step of REDUCE.
SEARCH(text, within, [start])	Position of a text, without case.
SEARCHB(text, within, [start])	Like SEARCH.
SEC(angle)	Secant of an angle in radians.
SECH(number)	Hyperbolic secant.
SECOND(time)	Second of a time.
SEQUENCE(rows, [columns], [start], [step])	Array of consecutive numbers.
SERIESSUM(x, power, step, coefficients)	Sum of a power series.
SHEET([value])	Number of a sheet.
SHEETS([reference])	Number of sheets.
SIGN(number)	1, 0 or -1.
SIN(angle)	Sine of an angle in radians.
SINH(number)	Hyperbolic sine.
SKEW(number…)	Skewness of a sample.
SKEW.P(number…)	Skewness of a population.
SLN(cost, salvage, life)	Linear depreciation.
SLOPE(known_y, known_x)	Slope of the regression line.
SMALL(array, k)	The k-th smallest number.
SORT(array, [index], [order], [by_column])	Sorted array; order -1 is descending.
SORTBY(array, {by, [order]}…)	Array sorted by other arrays.
SQRT(number)	Square root.
SQRTPI(number)	Square root of a number times π.
STANDARDIZE(x, mean, deviation)	Number in deviations from the mean.
STDEV(number…)	Older name of STDEV.S.
STDEV.P(number…)	Standard deviation of a population.
STDEV.S(number…)	Standard deviation of a sample.
STDEVA(value…)	Standard deviation of a sample; text counts as 0.
STDEVP(number…)	Older name of STDEV.P.
STDEVPA(value…)	Standard deviation of a population; text counts as 0.
STEYX(known_y, known_x)	Standard error of a regression.
SUBSTITUTE(text, old, new, [occurrence])	Text with another text replaced.
SUBTOTAL(function, range…)	Aggregate without other subtotals; function 9 is SUM.
SUM(number…)	Sum of numbers.
SUMIF(range, criterion, [sum_range])	Sum of the cells that fulfil a criterion.
SUMIFS(sum_range, {range, criterion}…)	Sum of the cells that fulfil all criteria.
SUMPRODUCT(array…)	Sum of the products of arrays.
SUMSQ(number…)	Sum of squares.
SUMX2MY2(array, array2)	Sum of the differences of squares.
SUMX2PY2(array, array2)	Sum of the sums of squares.
SUMXMY2(array, array2)	Sum of the squares of differences.
SWITCH(value, {case, result}…)	Result of the first equal case; a last argument is the default.
SYD(cost, salvage, life, period)	Depreciation by the sum of years.
T(value)	The value if it is text, or "".
T.DIST(x, degrees, cumulative)	Student's t-distribution.
T.DIST.2T(x, degrees)	Both tails of the t-distribution.
T.DIST.RT(x, degrees)	Right tail of the t-distribution.
T.INV(probability, degrees)	Inverse of the t-distribution.
T.INV.2T(probability, degrees)	Inverse of both tails of the t-distribution.
T.TEST(array, array2, tails, type)	Student's t-test.
TAKE(array, rows, [columns])	First or last rows and columns.
TAN(angle)	Tangent of an angle in radians.
TANH(number)	Hyperbolic tangent.
TBILLEQ(settlement, maturity, discount)	Bond-equivalent yield of a treasury bill.
TBILLPRICE(settlement, maturity, discount)	Price of a treasury bill.
TBILLYIELD(settlement, maturity, price)	Yield of a treasury bill.
TDIST(x, degrees, tails)	Tails of the t-distribution. Older form of T.DIST.2T.
TEXT(value, format)	Value as text in a number format.
TEXTAFTER(text, delimiter, [instance], [ignore_case], [match_end], [if_none])	Text after a delimiter.
TEXTBEFORE(text, delimiter, [instance], [ignore_case], [match_end], [if_none])	Text before a delimiter.
TEXTJOIN(delimiter, ignore_empty, text…)	Joins texts with a delimiter.
TEXTSPLIT(text, columns, [rows], [ignore_empty], [ignore_case], [pad])	Splits text at delimiters.
TIME(hour, minute, second)	Time from hour, minute and second.
TIMEVALUE(text)	Time from text.
TINV(probability, degrees)	Older name of T.INV.2T.
TOCOL(array, [ignore], [by_column])	Array as one column.
TODAY()	Date of the newest edit.
TOROW(array, [ignore], [by_column])	Array as one row.
TRANSPOSE(array)	Rows as columns.
TREND(known_y, [known_x], [new_x], [constant])	Values on a regression line.
TRIM(text)	Text without superfluous spaces.
TRIMMEAN(array, share)	Mean without the outermost numbers.
TRIMRANGE(range, [rows], [columns])	Range without blank edges.
TRUE()	The value TRUE.
TRUNC(number, [digits])	Number without further digits.
TTEST(array, array2, tails, type)	Older name of T.TEST.
TYPE(value)	Number of the type of a value.
UNICHAR(number)	Unicode character.
UNICODE(text)	Unicode number of the first character.
UNIQUE(array, [by_column], [once])	Different rows or columns.
UPPER(text)	Text in upper case.
VALUE(text)	Number from text.
VALUETOTEXT(value, [format])	Value as text.
VAR(number…)	Older name of VAR.S.
VAR.P(number…)	Variance of a population.
VAR.S(number…)	Variance of a sample.
VARA(value…)	Variance of a sample; text counts as 0.
VARP(number…)	Older name of VAR.P.
VARPA(value…)	Variance of a population; text counts as 0.
VDB(cost, salvage, life, start, end, [factor], [no_switch])	Depreciation by a declining balance, between two periods.
VLOOKUP(value, table, column, [approximate])	Finds a value in the first column; returns from another column.
VSTACK(array…)	Joins arrays one below the other.
WEEKDAY(date, [type])	Day of the week.
WEEKNUM(date, [type])	Week of the year.
WEIBULL(x, alpha, beta, cumulative)	Older name of WEIBULL.DIST.
WEIBULL.DIST(x, alpha, beta, cumulative)	Weibull distribution.
WORKDAY(start, days, [holidays])	Date some working days later.
WORKDAY.INTL(start, days, [weekend], [holidays])	Date some working days later, with other weekends.
WRAPCOLS(vector, count, [pad])	Row or column wrapped into columns.
WRAPROWS(vector, count, [pad])	Row or column wrapped into rows.
XIRR(values, dates, [guess])	Internal rate of return for dates.
XLOOKUP(value, range, results, [if_none], [match], [search])	Finds a value; returns from another range.
XMATCH(value, range, [match], [search])	Position of a value.
XNPV(rate, values, dates)	Net present value for dates.
XOR(condition…)	TRUE if an odd number of conditions is true.
YEAR(date)	Year of a date.
YEARFRAC(start, end, [basis])	Time between dates in years.
YIELD(settlement, maturity, rate, price, redemption, frequency, [basis])	Yield of a bond.
YIELDDISC(settlement, maturity, price, redemption, [basis])	Yield of a discounted security.
YIELDMAT(settlement, maturity, issue, rate, price, [basis])	Yield of a security that pays at maturity.
Z.TEST(array, x, [deviation])	z-test.
ZTEST(array, x, [deviation])	Older name of Z.TEST.`;var L=class{constructor(e){this.context=e;let{root:t,editor:n,bar:a,controller:o}=e;t.append(this.#n.element);let i=c(e);i&&(this.#a=y(i.element));for(let s of[n.element,a.formula]){s.addEventListener("input",()=>this.#a=y(s));for(let l of["keyup","pointerup"])s.addEventListener(l,()=>s.value.startsWith("=")&&o.redraw())}}context;#n=new f(e=>this.#i(e));#e=x(w);#a="";#r=null;#t=-1;draw(){let e=c(this.context)?.element??null;this.#o(e),this.#n.draw(e,e&&this.#u(e),this.#r?.items??[],this.#t)}#o(e){let t=e!==null&&y(e)===this.#a;this.#l(t?O(e.value,E(e),this.#m()):null)}handleKey(e){let t=e.altKey||e.ctrlKey||e.metaKey||e.shiftKey;e.key==="Tab"&&this.#o(c(this.context)?.element??null);let n=this.#r;if(!n||t)return!1;switch(e.key){case"ArrowDown":case"ArrowUp":return this.#s(e.key==="ArrowDown"?1:-1,n.items.length);case"Enter":case"Tab":return this.#t>=0&&this.#i(this.#t);case"Escape":return this.#a="",this.#r=null,this.context.controller.redraw(),!0}return!1}#s(e,t){return this.#t=this.#t<0&&e<0?t-1:(this.#t+e+t)%t,this.context.controller.redraw(),!0}#i(e){let t=c(this.context)?.element,n=this.#r?.items[e];return!t||!n||!this.#r?!1:(R(t,this.#r.span,n.text),this.#a="",this.#l(null),!0)}#l(e){JSON.stringify(e)===JSON.stringify(this.#r)||(this.#t=e?.isCertain?0:-1),this.#r=e}#u(e){let t=C(e.value,E(e).end),n=t?.name.toUpperCase().replace(/^_XLFN\.(?:_XLWS\.)?/,""),a=this.#e.find(o=>o.name===n);return t&&a?{info:a,argument:t.argument}:null}#m(){let{source:e}=this.context.controller;return{functions:this.#e,names:e?.names??[],sheets:e?.sheets.map(({name:t})=>t)??[]}}};function y(r){return`${r.selectionStart} ${r.selectionEnd} ${r.value}`}export{L as FormulaSuggestions};
