/** Copies a text, also on a page without HTTPS, where there is no clipboard. Returns whether the browser did. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const write = (event: ClipboardEvent) => {
      event.clipboardData?.setData("text/plain", text);
      event.preventDefault();
    };
    document.addEventListener("copy", write);
    const isCopied = document.execCommand("copy");
    document.removeEventListener("copy", write);
    return isCopied;
  }
}
