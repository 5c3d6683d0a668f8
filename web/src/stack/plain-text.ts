/** Texts of the server, which quote names as the command line does, for a reader of the page. */

/** Puts names in plain quotes instead of backticks. */
export function withPlainQuotes(text: string): string {
  return text.replace(/`([^`]*)`/g, '"$1"');
}
