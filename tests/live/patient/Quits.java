import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.Optional;

/**
 * A program whose native part takes SIGQUIT for itself: signal(SIGQUIT, _exit). It ends with 3 at one.
 * Needs JDK 22 (java.lang.foreign), by reflection, so that it is compiled as the Patient is.
 */
public class Quits {
    public static void main(String[] arguments) throws Throwable {
        Class<?> linkers = Class.forName("java.lang.foreign.Linker");
        Class<?> layouts = Class.forName("java.lang.foreign.MemoryLayout");
        Class<?> values = Class.forName("java.lang.foreign.ValueLayout");
        Class<?> descriptors = Class.forName("java.lang.foreign.FunctionDescriptor");
        Class<?> options = Class.forName("java.lang.foreign.Linker$Option");
        Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
        Object linker = linkers.getMethod("nativeLinker").invoke(null);
        Object symbols = linkers.getMethod("defaultLookup").invoke(linker);
        Method find = Class.forName("java.lang.foreign.SymbolLookup").getMethod("find", String.class);
        Object exit = ((Optional<?>) find.invoke(symbols, "_exit")).get();
        Object signal = ((Optional<?>) find.invoke(symbols, "signal")).get();
        Object address = values.getField("ADDRESS").get(null);
        Object taken = Array.newInstance(layouts, 2);
        Array.set(taken, 0, values.getField("JAVA_INT").get(null));
        Array.set(taken, 1, address);
        Object descriptor = descriptors.getMethod("of", layouts, taken.getClass()).invoke(null, address, taken);
        Object none = Array.newInstance(options, 0);
        MethodHandle call = (MethodHandle) linkers
            .getMethod("downcallHandle", segments, descriptors, none.getClass())
            .invoke(linker, signal, descriptor, none);
        call.invokeWithArguments(3, exit);
        Patient.main(arguments);
    }
}
