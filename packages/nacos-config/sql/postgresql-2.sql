-- What Nacos 2.5 and 3.x need beyond schema 1: gray releases, and room for IPv6 addresses. It adds what is absent; columns
-- become wider, never narrower.

create table if not exists config_info_gray (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  content text not null,
  md5 varchar(32),
  src_user text,
  src_ip varchar(100),
  gmt_create timestamp(3) not null default current_timestamp,
  gmt_modified timestamp(3) not null default current_timestamp,
  app_name varchar(128),
  tenant_id varchar(128) default '',
  gray_name varchar(128) not null,
  gray_rule text not null,
  encrypted_data_key varchar(256) not null default '',
  constraint uk_configinfogray_datagrouptenantgray unique (data_id, group_id, tenant_id, gray_name)
);
create index if not exists idx_config_info_gray_dataid_gmt_modified on config_info_gray (data_id, gmt_modified);
create index if not exists idx_config_info_gray_gmt_modified on config_info_gray (gmt_modified);

alter table his_config_info add column if not exists publish_type varchar(50) default 'formal';
alter table his_config_info add column if not exists gray_name varchar(50);
alter table his_config_info add column if not exists ext_info text;

do $$
declare
  narrow regclass;
begin
  -- A varchar's modifier is its length and 4; -1 is one without a limit.
  for narrow in
    select attrelid::regclass from pg_attribute
    where attname = 'src_ip' and atttypid = 'varchar'::regtype and atttypmod between 5 and 53
      and attrelid in (to_regclass('config_info'), to_regclass('config_info_beta'),
        to_regclass('config_info_tag'), to_regclass('his_config_info'))
  loop
    execute format('alter table %s alter column src_ip type varchar(50)', narrow);
  end loop;
end $$;
