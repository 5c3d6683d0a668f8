/** Problems of edits that the status shows. */

export const IN_MEMORY_ONLY = "Edits are kept in this tab only, because the browser does not store them";

export const LOST_EDITS = "Some edits were refused or may not have been made; download them";
