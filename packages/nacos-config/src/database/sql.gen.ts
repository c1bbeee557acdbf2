// Generated from sql/ by `npm run generate`: edit the SQL instead.
export const MYSQL: string = `CREATE TABLE IF NOT EXISTS \`config_info\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`data_id\` varchar(255) NOT NULL,
  \`group_id\` varchar(128) DEFAULT NULL,
  \`content\` longtext NOT NULL,
  \`md5\` varchar(32) DEFAULT NULL,
  \`gmt_create\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`gmt_modified\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`src_user\` text,
  \`src_ip\` varchar(100) DEFAULT NULL,
  \`app_name\` varchar(128) DEFAULT NULL,
  \`tenant_id\` varchar(128) DEFAULT '',
  \`c_desc\` varchar(256) DEFAULT NULL,
  \`c_use\` varchar(64) DEFAULT NULL,
  \`effect\` varchar(64) DEFAULT NULL,
  \`type\` varchar(64) DEFAULT NULL,
  \`c_schema\` text,
  \`encrypted_data_key\` varchar(1024) NOT NULL DEFAULT '',
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_configinfo_datagrouptenant\` (\`data_id\`, \`group_id\`, \`tenant_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`config_info_gray\` (
  \`id\` bigint unsigned NOT NULL AUTO_INCREMENT,
  \`data_id\` varchar(255) NOT NULL,
  \`group_id\` varchar(128) NOT NULL,
  \`content\` longtext NOT NULL,
  \`md5\` varchar(32) DEFAULT NULL,
  \`src_user\` text,
  \`src_ip\` varchar(100) DEFAULT NULL,
  \`gmt_create\` datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  \`gmt_modified\` datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  \`app_name\` varchar(128) DEFAULT NULL,
  \`tenant_id\` varchar(128) DEFAULT '',
  \`gray_name\` varchar(128) NOT NULL,
  \`gray_rule\` text NOT NULL,
  \`encrypted_data_key\` varchar(1024) NOT NULL DEFAULT '',
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_configinfogray_datagrouptenantgray\` (\`data_id\`, \`group_id\`, \`tenant_id\`, \`gray_name\`),
  KEY \`idx_dataid_gmt_modified\` (\`data_id\`, \`gmt_modified\`),
  KEY \`idx_gmt_modified\` (\`gmt_modified\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`config_info_aggr\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`data_id\` varchar(255) NOT NULL,
  \`group_id\` varchar(128) NOT NULL,
  \`datum_id\` varchar(255) NOT NULL,
  \`content\` longtext NOT NULL,
  \`gmt_modified\` datetime NOT NULL,
  \`app_name\` varchar(128) DEFAULT NULL,
  \`tenant_id\` varchar(128) DEFAULT '',
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_configinfoaggr_datagrouptenantdatum\` (\`data_id\`, \`group_id\`, \`tenant_id\`, \`datum_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`config_info_beta\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`data_id\` varchar(255) NOT NULL,
  \`group_id\` varchar(128) NOT NULL,
  \`app_name\` varchar(128) DEFAULT NULL,
  \`content\` longtext NOT NULL,
  \`md5\` varchar(32) DEFAULT NULL,
  \`beta_ips\` varchar(1024) DEFAULT NULL,
  \`gmt_create\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`gmt_modified\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`src_user\` text,
  \`src_ip\` varchar(100) DEFAULT NULL,
  \`tenant_id\` varchar(128) DEFAULT '',
  \`encrypted_data_key\` varchar(1024) NOT NULL DEFAULT '',
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_configinfobeta_datagrouptenant\` (\`data_id\`, \`group_id\`, \`tenant_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`config_info_tag\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`data_id\` varchar(255) NOT NULL,
  \`group_id\` varchar(128) NOT NULL,
  \`tenant_id\` varchar(128) DEFAULT '',
  \`tag_id\` varchar(128) NOT NULL,
  \`app_name\` varchar(128) DEFAULT NULL,
  \`content\` longtext NOT NULL,
  \`md5\` varchar(32) DEFAULT NULL,
  \`gmt_create\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`gmt_modified\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`src_user\` text,
  \`src_ip\` varchar(100) DEFAULT NULL,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_configinfotag_datagrouptenanttag\` (\`data_id\`, \`group_id\`, \`tenant_id\`, \`tag_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`config_tags_relation\` (
  \`id\` bigint NOT NULL,
  \`tag_name\` varchar(128) NOT NULL,
  \`tag_type\` varchar(64) DEFAULT NULL,
  \`data_id\` varchar(255) NOT NULL,
  \`group_id\` varchar(128) NOT NULL,
  \`tenant_id\` varchar(128) DEFAULT '',
  \`nid\` bigint NOT NULL AUTO_INCREMENT,
  PRIMARY KEY (\`nid\`),
  UNIQUE KEY \`uk_configtagrelation_configidtag\` (\`id\`, \`tag_name\`, \`tag_type\`),
  KEY \`idx_tenant_id\` (\`tenant_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`group_capacity\` (
  \`id\` bigint unsigned NOT NULL AUTO_INCREMENT,
  \`group_id\` varchar(128) NOT NULL DEFAULT '',
  \`quota\` int unsigned NOT NULL DEFAULT 0,
  \`usage\` int unsigned NOT NULL DEFAULT 0,
  \`max_size\` int unsigned NOT NULL DEFAULT 0,
  \`max_aggr_count\` int unsigned NOT NULL DEFAULT 0,
  \`max_aggr_size\` int unsigned NOT NULL DEFAULT 0,
  \`max_history_count\` int unsigned NOT NULL DEFAULT 0,
  \`gmt_create\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`gmt_modified\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_group_id\` (\`group_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`his_config_info\` (
  \`id\` bigint unsigned NOT NULL,
  \`nid\` bigint unsigned NOT NULL AUTO_INCREMENT,
  \`data_id\` varchar(255) NOT NULL,
  \`group_id\` varchar(128) NOT NULL,
  \`app_name\` varchar(128) DEFAULT NULL,
  \`content\` longtext NOT NULL,
  \`md5\` varchar(32) DEFAULT NULL,
  \`gmt_create\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`gmt_modified\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`src_user\` text,
  \`src_ip\` varchar(100) DEFAULT NULL,
  \`op_type\` char(10) DEFAULT NULL,
  \`tenant_id\` varchar(128) DEFAULT '',
  \`encrypted_data_key\` varchar(1024) NOT NULL DEFAULT '',
  \`publish_type\` varchar(50) DEFAULT 'formal',
  \`gray_name\` varchar(128) DEFAULT NULL,
  \`ext_info\` longtext,
  PRIMARY KEY (\`nid\`),
  KEY \`idx_gmt_create\` (\`gmt_create\`),
  KEY \`idx_gmt_modified\` (\`gmt_modified\`),
  KEY \`idx_did\` (\`data_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`tenant_capacity\` (
  \`id\` bigint unsigned NOT NULL AUTO_INCREMENT,
  \`tenant_id\` varchar(128) NOT NULL DEFAULT '',
  \`quota\` int unsigned NOT NULL DEFAULT 0,
  \`usage\` int unsigned NOT NULL DEFAULT 0,
  \`max_size\` int unsigned NOT NULL DEFAULT 0,
  \`max_aggr_count\` int unsigned NOT NULL DEFAULT 0,
  \`max_aggr_size\` int unsigned NOT NULL DEFAULT 0,
  \`max_history_count\` int unsigned NOT NULL DEFAULT 0,
  \`gmt_create\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`gmt_modified\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_tenant_id\` (\`tenant_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`tenant_info\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`kp\` varchar(128) NOT NULL,
  \`tenant_id\` varchar(128) DEFAULT '',
  \`tenant_name\` varchar(128) DEFAULT '',
  \`tenant_desc\` varchar(256) DEFAULT NULL,
  \`create_source\` varchar(32) DEFAULT NULL,
  \`gmt_create\` bigint NOT NULL,
  \`gmt_modified\` bigint NOT NULL,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_tenant_info_kptenantid\` (\`kp\`, \`tenant_id\`),
  KEY \`idx_tenant_id\` (\`tenant_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`users\` (
  \`username\` varchar(50) NOT NULL,
  \`password\` varchar(500) NOT NULL,
  \`enabled\` boolean NOT NULL,
  PRIMARY KEY (\`username\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`roles\` (
  \`username\` varchar(50) NOT NULL,
  \`role\` varchar(50) NOT NULL,
  UNIQUE KEY \`idx_user_role\` (\`username\`, \`role\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`permissions\` (
  \`role\` varchar(50) NOT NULL,
  \`resource\` varchar(255) NOT NULL,
  \`action\` varchar(8) NOT NULL,
  UNIQUE KEY \`uk_role_permission\` (\`role\`, \`resource\`, \`action\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`pipeline_execution\` (
  \`execution_id\` varchar(64) NOT NULL,
  \`resource_type\` varchar(32) NOT NULL,
  \`resource_name\` varchar(256) NOT NULL,
  \`namespace_id\` varchar(128) DEFAULT NULL,
  \`version\` varchar(64) DEFAULT NULL,
  \`status\` varchar(32) NOT NULL,
  \`pipeline\` longtext NOT NULL,
  \`create_time\` bigint NOT NULL,
  \`update_time\` bigint NOT NULL,
  PRIMARY KEY (\`execution_id\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`ai_resource\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`gmt_create\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`gmt_modified\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`name\` varchar(256) NOT NULL,
  \`type\` varchar(32) NOT NULL,
  \`c_desc\` varchar(2048) DEFAULT NULL,
  \`status\` varchar(32) DEFAULT NULL,
  \`namespace_id\` varchar(128) NOT NULL DEFAULT '',
  \`biz_tags\` varchar(1024) DEFAULT NULL,
  \`ext\` longtext,
  \`c_from\` varchar(256) NOT NULL DEFAULT 'local',
  \`version_info\` longtext,
  \`meta_version\` bigint NOT NULL DEFAULT 1,
  \`scope\` varchar(16) NOT NULL DEFAULT 'PRIVATE',
  \`owner\` varchar(128) NOT NULL DEFAULT '',
  \`download_count\` bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_ai_resource_ns_name_type\` (\`namespace_id\`, \`name\`, \`type\`, \`c_from\`),
  KEY \`idx_ai_resource_name\` (\`name\`),
  KEY \`idx_ai_resource_type\` (\`type\`),
  KEY \`idx_ai_resource_gmt_modified\` (\`gmt_modified\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS \`ai_resource_version\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`gmt_create\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`gmt_modified\` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  \`type\` varchar(32) NOT NULL,
  \`author\` varchar(128) DEFAULT NULL,
  \`name\` varchar(256) NOT NULL,
  \`c_desc\` varchar(2048) DEFAULT NULL,
  \`status\` varchar(32) NOT NULL,
  \`version\` varchar(64) NOT NULL,
  \`namespace_id\` varchar(128) NOT NULL DEFAULT '',
  \`storage\` longtext,
  \`publish_pipeline_info\` longtext,
  \`download_count\` bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uk_ai_resource_ver_ns_name_type_ver\` (\`namespace_id\`, \`name\`, \`type\`, \`version\`),
  KEY \`idx_ai_resource_ver_name\` (\`name\`),
  KEY \`idx_ai_resource_ver_status\` (\`status\`),
  KEY \`idx_ai_resource_ver_gmt_modified\` (\`gmt_modified\`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
`;

export const POSTGRESQL_1: string = `create table if not exists config_info (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(255),
  content text not null,
  md5 varchar(32),
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  src_user text,
  src_ip varchar(20),
  app_name varchar(128),
  tenant_id varchar(128) default '',
  c_desc varchar(256),
  c_use varchar(64),
  effect varchar(64),
  type varchar(64),
  c_schema text,
  encrypted_data_key text not null default '',
  constraint uk_configinfo_datagrouptenant unique (data_id, group_id, tenant_id)
);

create table if not exists config_info_aggr (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(255) not null,
  datum_id varchar(255) not null,
  content text not null,
  gmt_modified timestamp(6) not null default current_timestamp,
  app_name varchar(128),
  tenant_id varchar(128) default '',
  constraint uk_configinfoaggr_datagrouptenantdatum unique (data_id, group_id, tenant_id, datum_id)
);

create table if not exists config_info_beta (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  app_name varchar(128),
  content text not null,
  beta_ips varchar(1024),
  md5 varchar(32),
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  src_user text,
  src_ip varchar(20),
  tenant_id varchar(128) default '',
  encrypted_data_key text not null default '',
  constraint uk_configinfobeta_datagrouptenant unique (data_id, group_id, tenant_id)
);

create table if not exists config_info_tag (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  tenant_id varchar(128) default '',
  tag_id varchar(128) not null,
  app_name varchar(128),
  content text not null,
  md5 varchar(32),
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  src_user text,
  src_ip varchar(20),
  constraint uk_configinfotag_datagrouptenanttag unique (data_id, group_id, tenant_id, tag_id)
);

create table if not exists config_tags_relation (
  id bigint not null,
  tag_name varchar(128) not null,
  tag_type varchar(64),
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  tenant_id varchar(128) default '',
  nid bigserial primary key,
  constraint uk_configtagrelation_configidtag unique (id, tag_name, tag_type)
);
create index if not exists idx_config_tags_relation_tenant_id on config_tags_relation (tenant_id);

create table if not exists group_capacity (
  id bigserial primary key,
  group_id varchar(128) not null default '',
  quota integer not null default 0,
  usage integer not null default 0,
  max_size integer not null default 0,
  max_aggr_count integer not null default 0,
  max_aggr_size integer not null default 0,
  max_history_count integer not null default 0,
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  constraint uk_group_id unique (group_id)
);

create table if not exists his_config_info (
  id bigint not null,
  nid bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  app_name varchar(128),
  content text not null,
  md5 varchar(32),
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  src_user text,
  src_ip varchar(20),
  op_type char(10),
  tenant_id varchar(128) default '',
  encrypted_data_key text not null default ''
);
create index if not exists idx_his_config_info_gmt_create on his_config_info (gmt_create);
create index if not exists idx_his_config_info_gmt_modified on his_config_info (gmt_modified);
create index if not exists idx_his_config_info_data_id on his_config_info (data_id);

create table if not exists tenant_capacity (
  id bigserial primary key,
  tenant_id varchar(128) not null default '',
  quota integer not null default 0,
  usage integer not null default 0,
  max_size integer not null default 0,
  max_aggr_count integer not null default 0,
  max_aggr_size integer not null default 0,
  max_history_count integer not null default 0,
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  constraint uk_tenant_id unique (tenant_id)
);

create table if not exists tenant_info (
  id bigserial primary key,
  kp varchar(128) not null,
  tenant_id varchar(128) default '',
  tenant_name varchar(128) default '',
  tenant_desc varchar(256),
  create_source varchar(32),
  gmt_create bigint not null,
  gmt_modified bigint not null,
  constraint uk_tenant_info_kptenantid unique (kp, tenant_id)
);
create index if not exists idx_tenant_info_tenant_id on tenant_info (tenant_id);

create table if not exists users (
  username varchar(50) primary key,
  password varchar(500) not null,
  enabled boolean not null
);

create table if not exists roles (
  username varchar(50) not null,
  role varchar(50) not null,
  constraint uk_username_role unique (username, role)
);

create table if not exists permissions (
  role varchar(50) not null,
  resource varchar(512) not null,
  action varchar(8) not null,
  constraint uk_role_permission unique (role, resource, action)
);
`;

export const POSTGRESQL_2: string = `create table if not exists config_info_gray (
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
`;
