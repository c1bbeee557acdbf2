/** Answers in the envelope that every JSON answer of the API has. */

export interface PageInfo {
  page?: number;
  per_page?: number;
  count?: number;
  total_count?: number;
  total_pages?: number;
  cursor?: string;
}

export interface CloudflareAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A refusal, thrown by whoever handles the call. */
export class CloudflareRefusal extends Error {
  override readonly name = "CloudflareRefusal";
  readonly status: number;
  readonly code: number;
  readonly chain: readonly { code: number; message: string }[];

  constructor(
    status: number,
    code: number,
    message: string,
    chain: readonly { code: number; message: string }[] = [],
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.chain = chain;
  }
}

export function success(result: unknown, info?: PageInfo, status = 200): CloudflareAnswer {
  const body = { success: true, errors: [], messages: [], result, ...(info && { result_info: info }) };
  return { status, body };
}

export function failure({ status, code, message, chain }: CloudflareRefusal): CloudflareAnswer {
  const error = { code, message, ...(chain.length > 0 && { error_chain: chain }) };
  return { status, body: { success: false, errors: [error], messages: [], result: null } };
}
