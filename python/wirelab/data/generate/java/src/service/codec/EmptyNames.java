package service.codec;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;

/** Jackson takes an empty name for a missing one; JSON may have it. */
final class EmptyNames extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    @Override
    public String findImplicitPropertyName(AnnotatedMember member) {
        JsonProperty named = member.getAnnotation(JsonProperty.class);
        return named != null && named.value().isEmpty() ? "" : super.findImplicitPropertyName(member);
    }
}
