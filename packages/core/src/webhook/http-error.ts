/** An answer other than 200 to a webhook call. */
export class HttpError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "HttpError";
    this.code = code;
  }
}
