/** The template is wrong, or its rendering failed: the text is Go's, with the position. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** A limit of this engine was reached: {@link Limits}. */
export class LimitError extends TemplateError {}
