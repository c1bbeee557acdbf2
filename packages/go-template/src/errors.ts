/** The template is wrong, or its rendering failed: the text is Go's, with the position. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** The text without any value of the rendering, for where values are secrets. */
  readonly withoutValues: string;
  constructor(message: string, withoutValues: string = message) {
    super(message);
    this.withoutValues = withoutValues;
  }
}

/** A limit of this engine was reached: {@link Limits}. */
export class LimitError extends TemplateError {}
