/** English texts of the transcript page; the editor hands their translations over. `{0}` is filled in. */
export const pageStrings: readonly string[] = [];
