/** A place that a search found. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

const HIT = /^(?<path>[^\s:][^:\n]{0,400}?):(?<line>\d{1,7}):(?:\d{1,5}:)?(?<text>.*)$/;

/** The places in the output of a search; undefined when most of it is something else. */
export function hitsIn(output: string): Hit[] | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const hits = lines.flatMap((one): Hit[] => {
    const { path, line, text } = HIT.exec(one)?.groups ?? {};
    return path === undefined ? [] : [{ path, line: Number(line), text: text ?? '' }];
  });
  return hits.length > 0 && hits.length >= lines.length * 0.6 ? hits : undefined;
}
