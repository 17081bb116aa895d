package wirelab.service.axis;

import javax.xml.namespace.QName;
import org.apache.axis.description.JavaServiceDesc;
import org.apache.axis.description.OperationDesc;

/**
 * A description that several calls may read at once. Axis 1.4 sorts a list of its own with every
 * lookup by name, which fails with ConcurrentModificationException when two do it at a time.
 */
final class ConcurrentDescription extends JavaServiceDesc {
    private static final long serialVersionUID = 1L;

    @Override
    public synchronized OperationDesc[] getOperationsByQName(QName name) {
        return super.getOperationsByQName(name);
    }
}
