import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
import apps.tenants.models.tenants
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("core", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=128, verbose_name="key")),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
            ],
            options={
                "verbose_name": "project",
                "verbose_name_plural": "projects",
            },
        ),
        migrations.CreateModel(
            name="Subject",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("key", models.CharField(db_collation="C", max_length=128, verbose_name="key")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
            ],
            options={
                "verbose_name": "subject",
                "verbose_name_plural": "subjects",
            },
        ),
        migrations.CreateModel(
            name="Tenant",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=128, unique=True, verbose_name="key")),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                (
                    "status",
                    models.CharField(
                        choices=[("active", "active"), ("suspended", "suspended")],
                        default="active",
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("settings", models.JSONField(blank=True, default=dict, verbose_name="settings")),
                ("revision", models.BigIntegerField(default=0, verbose_name="revision")),
                ("index_key", models.BinaryField(default=apps.tenants.models.tenants.new_index_key)),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
            ],
            options={
                "verbose_name": "tenant",
                "verbose_name_plural": "tenants",
                "permissions": (
                    ("act_as_owner", "act as owner"),
                    ("act_as_compliance", "act as compliance staff"),
                    ("act_as_reviewer", "act as reviewer"),
                    ("act_as_auditor", "act as auditor"),
                    ("act_as_operator", "act as operator"),
                    ("act_as_agent", "act as agent"),
                ),
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("person", "person"), ("agent", "agent")], default="person", max_length=8, verbose_name="kind"
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        blank=True, help_text="The agent's name inside its tenant.", max_length=128, verbose_name="agent key"
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="Credential",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=128, verbose_name="name")),
                ("token_sha256", models.CharField(editable=False, max_length=64)),
                (
                    "operations",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("delegate", "delegate"),
                                ("events:write", "send events"),
                                ("candidates:write", "propose memories"),
                                ("memory:read", "read memories"),
                                ("memory:write", "revise memories"),
                                ("memory:delete", "erase memories"),
                                ("promotions:request", "request promotions"),
                                ("traces:read", "read traces"),
                                ("raw:read", "read raw text"),
                                ("conflicts:resolve", "resolve conflicts"),
                                ("deletions:resume", "resume deletions"),
                            ],
                            max_length=32,
                        ),
                        size=None,
                        verbose_name="operations",
                    ),
                ),
                (
                    "projects",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None, verbose_name="projects"
                    ),
                ),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                ("revoked_at", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
                ("last_used_at", models.DateTimeField(blank=True, null=True, verbose_name="last used")),
                (
                    "rotated_from",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rotations",
                        to="tenants.credential",
                        verbose_name="rotated from",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="credentials",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="agent",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.subject",
                        verbose_name="fixed subject",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "credential",
                "verbose_name_plural": "credentials",
            },
        ),
        migrations.AddField(
            model_name="subject",
            name="tenant",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                editable=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenants.tenant",
            ),
        ),
        migrations.CreateModel(
            name="ProjectMember",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("member_from", models.DateTimeField(default=apps.core.clock.now, verbose_name="from")),
                ("member_to", models.DateTimeField(blank=True, null=True, verbose_name="to")),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="tenants.project",
                        verbose_name="project",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="tenants.subject",
                        verbose_name="subject",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "project member",
                "verbose_name_plural": "project members",
            },
        ),
        migrations.AddField(
            model_name="project",
            name="tenant",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                editable=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenants.tenant",
            ),
        ),
        migrations.CreateModel(
            name="Namespace",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "scope",
                    models.CharField(
                        choices=[("user", "user"), ("project", "project"), ("organization", "organization")],
                        max_length=16,
                        verbose_name="scope",
                    ),
                ),
                ("scope_id", models.CharField(db_collation="C", max_length=128, verbose_name="scope id")),
                ("deletion_epoch", models.BigIntegerField(default=0, verbose_name="deletion epoch")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                (
                    "project",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="namespace",
                        to="tenants.project",
                        verbose_name="project",
                    ),
                ),
                (
                    "subject",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="namespace",
                        to="tenants.subject",
                        verbose_name="subject",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "namespace",
                "verbose_name_plural": "namespaces",
                "permissions": (
                    ("read", "read memories"),
                    ("write", "write memories"),
                    ("review", "review proposals"),
                    ("promote", "promote memories"),
                    ("erase", "erase memories"),
                ),
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "owner"),
                            ("compliance", "compliance"),
                            ("reviewer", "reviewer"),
                            ("auditor", "auditor"),
                            ("operator", "operator"),
                            ("agent", "agent"),
                        ],
                        max_length=16,
                        verbose_name="role",
                    ),
                ),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="since")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "membership",
                "verbose_name_plural": "memberships",
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("caller_id", models.CharField(editable=False, max_length=128, verbose_name="caller")),
                ("route", models.CharField(max_length=200, verbose_name="route")),
                ("key", models.CharField(db_collation="C", max_length=128, verbose_name="key")),
                ("body_sha256", models.CharField(editable=False, max_length=64)),
                ("status", models.PositiveSmallIntegerField(verbose_name="status")),
                ("answer", models.JSONField(default=dict, verbose_name="answer")),
                ("headers", models.JSONField(default=dict, verbose_name="headers")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "idempotency key",
                "verbose_name_plural": "idempotency keys",
            },
        ),
        migrations.CreateModel(
            name="Delegation",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "projects",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None, verbose_name="projects"
                    ),
                ),
                (
                    "operations",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("delegate", "delegate"),
                                ("events:write", "send events"),
                                ("candidates:write", "propose memories"),
                                ("memory:read", "read memories"),
                                ("memory:write", "revise memories"),
                                ("memory:delete", "erase memories"),
                                ("promotions:request", "request promotions"),
                                ("traces:read", "read traces"),
                                ("raw:read", "read raw text"),
                                ("conflicts:resolve", "resolve conflicts"),
                                ("deletions:resume", "resume deletions"),
                            ],
                            max_length=32,
                        ),
                        size=None,
                        verbose_name="operations",
                    ),
                ),
                ("session_id", models.CharField(db_collation="C", max_length=128, verbose_name="session")),
                ("token_sha256", models.CharField(editable=False, max_length=64)),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                ("expires_at", models.DateTimeField(verbose_name="expires")),
                ("revoked_at", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
                (
                    "credential",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="delegations",
                        to="tenants.credential",
                        verbose_name="credential",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.subject",
                        verbose_name="subject",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "delegation",
                "verbose_name_plural": "delegations",
            },
        ),
        migrations.CreateModel(
            name="AccessPolicy",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=128, verbose_name="key")),
                ("description", models.CharField(blank=True, max_length=400, verbose_name="description")),
                ("created_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="created")),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "access policy",
                "verbose_name_plural": "access policies",
                "permissions": (("read_under", "read memories under this policy"),),
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="TenantGroupPermission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content_object", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.group")),
                ("permission", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.permission")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="TenantUserPermission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content_object", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant")),
                ("permission", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.permission")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="AccessPolicyGroupPermission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content_object", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="tenants.accesspolicy")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.group")),
                ("permission", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.permission")),
            ],
            options={
                "abstract": False,
                "unique_together": {("group", "permission", "content_object")},
            },
        ),
        migrations.CreateModel(
            name="AccessPolicyUserPermission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content_object", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="tenants.accesspolicy")),
                ("permission", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.permission")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "abstract": False,
                "unique_together": {("user", "permission", "content_object")},
            },
        ),
        migrations.CreateModel(
            name="NamespaceGroupPermission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content_object", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="tenants.namespace")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.group")),
                ("permission", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.permission")),
            ],
            options={
                "abstract": False,
                "unique_together": {("group", "permission", "content_object")},
            },
        ),
        migrations.CreateModel(
            name="NamespaceUserPermission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content_object", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="tenants.namespace")),
                ("permission", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="auth.permission")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "abstract": False,
                "unique_together": {("user", "permission", "content_object")},
            },
        ),
        migrations.AddConstraint(
            model_name="subject",
            constraint=models.UniqueConstraint(fields=("tenant", "key"), name="subject_key_once"),
        ),
        migrations.AddConstraint(
            model_name="projectmember",
            constraint=models.UniqueConstraint(fields=("tenant", "project", "subject"), name="project_member_once"),
        ),
        migrations.AddConstraint(
            model_name="projectmember",
            constraint=models.CheckConstraint(
                condition=models.Q(("member_to", None), ("member_to__gte", models.F("member_from")), _connector="OR"),
                name="project_member_order",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.UniqueConstraint(fields=("tenant", "key"), name="project_key_once"),
        ),
        migrations.AddConstraint(
            model_name="namespace",
            constraint=models.UniqueConstraint(fields=("tenant", "scope", "scope_id"), name="namespace_once"),
        ),
        migrations.AddConstraint(
            model_name="namespace",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("project", None), ("scope", "user"), ("subject__isnull", False)),
                    models.Q(("project__isnull", False), ("scope", "project"), ("subject", None)),
                    models.Q(("project", None), ("scope", "organization"), ("subject", None)),
                    _connector="OR",
                ),
                name="namespace_has_its_owner",
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("tenant", "user", "role"), name="membership_role_once"),
        ),
        migrations.AddIndex(
            model_name="idempotencykey",
            index=models.Index(fields=["expires_at"], name="idempotency_expiry"),
        ),
        migrations.AddConstraint(
            model_name="idempotencykey",
            constraint=models.UniqueConstraint(fields=("tenant", "caller_id", "route", "key"), name="idempotency_key_once"),
        ),
        migrations.AddIndex(
            model_name="delegation",
            index=models.Index(fields=["tenant", "session_id"], name="delegation_session"),
        ),
        migrations.AddConstraint(
            model_name="delegation",
            constraint=models.UniqueConstraint(fields=("tenant", "token_sha256"), name="delegation_token_once"),
        ),
        migrations.AddConstraint(
            model_name="credential",
            constraint=models.UniqueConstraint(fields=("tenant", "token_sha256"), name="credential_token_once"),
        ),
        migrations.AddConstraint(
            model_name="credential",
            constraint=models.UniqueConstraint(
                condition=models.Q(("revoked_at", None)), fields=("tenant", "user", "name"), name="credential_name_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="accesspolicy",
            constraint=models.UniqueConstraint(fields=("tenant", "key"), name="access_policy_once"),
        ),
        migrations.AlterUniqueTogether(
            name="tenantgrouppermission",
            unique_together={("group", "permission", "content_object")},
        ),
        migrations.AlterUniqueTogether(
            name="tenantuserpermission",
            unique_together={("user", "permission", "content_object")},
        ),
        ProtectTable("tenants_credential"),
        ProtectTable("tenants_delegation"),
        ProtectTable("tenants_idempotencykey"),
        ProtectTable("tenants_namespace"),
        ProtectTable("tenants_accesspolicy"),
        ProtectTable("tenants_membership"),
        ProtectTable("tenants_subject"),
        ProtectTable("tenants_projectmember"),
        ProtectTable("tenants_tenant", "id = {tenant}"),
        ProtectTable("tenants_project"),
        ProtectTable("tenants_tenantuserpermission", "content_object_id = {tenant}"),
        ProtectTable("tenants_tenantgrouppermission", "content_object_id = {tenant}"),
        ProtectTable(
            "tenants_namespaceuserpermission",
            "EXISTS (SELECT 1 FROM tenants_namespace o WHERE o.id = content_object_id AND o.tenant_id = {tenant})",
        ),
        ProtectTable(
            "tenants_namespacegrouppermission",
            "EXISTS (SELECT 1 FROM tenants_namespace o WHERE o.id = content_object_id AND o.tenant_id = {tenant})",
        ),
        ProtectTable(
            "tenants_accesspolicyuserpermission",
            "EXISTS (SELECT 1 FROM tenants_accesspolicy o WHERE o.id = content_object_id AND o.tenant_id = {tenant})",
        ),
        ProtectTable(
            "tenants_accesspolicygrouppermission",
            "EXISTS (SELECT 1 FROM tenants_accesspolicy o WHERE o.id = content_object_id AND o.tenant_id = {tenant})",
        ),
    ]
